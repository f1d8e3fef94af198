from mage import interactions
from mage.demo import nitroaniline_game


def test_only_structure_blind_indices_let_far_groups_interact_without_a_path():
    game = nitroaniline_game()
    nitrogen, amine = 6, 9
    blind, aware = (
        interactions(game, name, method="exact")[nitrogen, amine] for name in ("shapley-taylor", "myerson-taylor")
    )
    assert blind < 0
    assert abs(aware) < abs(blind)
