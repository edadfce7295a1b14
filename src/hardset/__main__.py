"""`python -m hardset`."""

from hardset.cli import main

if __name__ == "__main__":
    main()
