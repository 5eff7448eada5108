"""The page of the service in Chromium, wide and narrow, light and dark, over a real server."""

import html
import json
import re
import shutil
import socket
import subprocess
import threading
import time

import pytest
import uvicorn
from starlette.responses import HTMLResponse
from starlette.routing import Route

from app import PAGE, make_app
from clients import ask
from first_model import people

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.filterwarnings("ignore:column"),
              pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")]
# Looks at two frames of the page, since a window cannot be as narrow as a phone, once both have shown an answer.
FRAMES = """<!DOCTYPE html><body>
<iframe src="/" style="width:390px;height:900px;border:0"></iframe>
<iframe src="/" style="width:1280px;height:900px;border:0"></iframe>
<script>
const looked = new Set();
setInterval(() => {
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, text = id => page.getElementById(id)?.textContent;
    if (looked.has(frame) || text("news") !== "live: asked every second") continue;
    looked.add(frame);
    const shown = {width: frame.contentWindow.innerWidth, scroll: page.documentElement.scrollWidth,
                   background: frame.contentWindow.getComputedStyle(page.body).backgroundColor};
    for (const id of ["accuracy", "gap", "interval", "fairness_weight", "learned", "alarms", "groups"])
      shown[id] = text(id);
    shown.curves = [...page.querySelectorAll("polyline")].map(line => line.getAttribute("points").split(" ").length);
    shown.band = page.querySelector("polygon").getAttribute("points").split(" ").length;
    const told = document.createElement("pre");
    told.textContent = JSON.stringify(shown);
    document.body.append(told);
  }
}, 100);
</script>"""


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """Of a service that has learned from 600 people; women were all refused and men not, so there is an alarm."""
    app = make_app(tmp_path_factory.mktemp("page"))

    async def frames(request):
        return HTMLResponse(FRAMES)

    app.router.routes.append(Route("/frames", frames))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    for number, row in enumerate(people()[:600].to_dict("records")):
        told = {"id": number, "label": row.pop("income"), "group": row.pop("gender"), "row": row}
        ask(port, "POST", "/feedback", told | {"decision": ">50K" if told["group"] == "Male" else "<=50K"})
    yield port
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_what_the_service_says_and_fits(port, scheme, tmp_path):
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    said = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", *dark,
         "--window-size=1700,1000", f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=15000",
         "--dump-dom", f"http://127.0.0.1:{port}/frames"], capture_output=True, text=True, timeout=200)
    assert ":CONSOLE" not in said.stderr, said.stderr
    found = [json.loads(html.unescape(each)) for each in re.findall(r"<pre>(.*?)</pre>", said.stdout, re.DOTALL)]
    assert sorted(each["width"] for each in found) == [390, 1280], said.stdout[-2000:]
    status = ask(port, "GET", "/status")[1]
    now = status["now"]
    for each in found:
        assert each["scroll"] <= each["width"]
        assert each["accuracy"] == f"{100 * now['accuracy']:.1f} %" and each["gap"] == f"{now['gap']:.3f}" == "1.000"
        assert each["interval"] == f"95 % sure: {now['low']:.3f} to {now['high']:.3f}"
        assert each["fairness_weight"] == f"{now['fairness_weight']:.3f}" and each["learned"] == "600"
        assert each["alarms"].startswith("Alarms⚠ after row ") and "limit 0.1" in each["alarms"]
        assert each["groups"].startswith("Female") and "Male" in each["groups"] and "100.0 %" in each["groups"]
        assert each["curves"] == [13, 13, 13] and each["band"] == 26  # a point every 50 rows, and now
        assert each["background"] == {"light": "rgb(246, 247, 249)", "dark": "rgb(20, 23, 26)"}[scheme]


def test_the_page_loads_nothing_from_elsewhere_and_writes_texts_as_texts():
    text = PAGE.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert "http" not in text and "@import" not in text and "url(" not in text and "innerHTML" not in text
