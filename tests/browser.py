"""Headless Chromium for tests: loads local files and tells what a page asked for and complained about."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = ["--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--disable-quic"]  # Chromium's own requests, not the page's
LOCAL = ("file:", "data:", "blob:", "about:")


class Browser:
    """One Chromium, used page after page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path, width: int = 1280, dark: bool = False) -> list[str]:
        """Load a file as a first visitor does; return every outside request and every console error."""
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": "file://", "storageTypes": "all"})
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get("about:blank")
        for log in ("performance", "browser"):
            self.driver.get_log(log)  # what came before is not this page's
        self.driver.get(page.as_uri())
        errors = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [f"asked for {url}" for url in urls if not url.startswith(LOCAL)] + errors

    def run(self, script: str) -> Any:
        """The value that a script returns in the page."""
        return self.driver.execute_script(script)

    def wait(self, script: str, seconds: float = 60) -> Any:
        """The first true value that a script returns in the page. Raises selenium's TimeoutException without one."""
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self.driver, seconds).until(lambda driver: driver.execute_script(script))

    def press(self, keys: str) -> None:
        """Press keys, in WebDriver's code points, on what has the focus."""
        self.driver.switch_to.active_element.send_keys(keys)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, or a skip where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not (chromium and chromedriver):
        pytest.skip("no Chromium here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS + ["--no-sandbox"] * (os.geteuid() == 0):  # Chromium's sandbox refuses root
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield Browser(driver)
    driver.quit()
