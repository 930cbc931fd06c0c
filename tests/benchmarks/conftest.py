"""What the browser's tests have is there for what is measured in a browser."""

from tests.browser.conftest import jupyter, page

__all__ = ["jupyter", "page"]
