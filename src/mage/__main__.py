"""``python -m mage`` is the ``mage`` command."""

from mage.cli import main

if __name__ == "__main__":
    main()
