from mage._core.printing import printable


def test_text_cannot_steer_a_terminal():
    hostile = "a\x1b[31mred\x1b]0;title\x07\r\u202e\ud800\x9b1m"
    text = printable(hostile)
    assert len(text) == len(hostile)
    assert text.encode().decode() == text
    assert not set(text) & set("\x1b\x07\r\u202e\x9b")


def test_words_and_lines_stay():
    text = "می\u200cخواهم\tδ\n𝛙 👩\u200d🔬"
    assert printable(text) == text
