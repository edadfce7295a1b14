"""Take the README's picture of a report, in headless Chromium.

usage: python scripts/picture.py report.html docs/report.png
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def main() -> None:
    """Show the top of the page, and below it the first cards of the sample."""
    page_path, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1180, "height": 1500})
        page.goto(page_path.as_uri())
        page.screenshot(path=out)
        browser.close()


if __name__ == "__main__":
    main()
