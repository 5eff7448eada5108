"""A model in use over HTTP: it answers, learns from feedback, and shows how fair its answers are.

    python examples/service/app.py --folder state

README.md beside this file tells the rest.
"""

import argparse
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

import checks
from aranyani_tf.errors import AranyaniError
from first_model import TARGET
from learner import REMEMBERED
from request_metrics import RequestCounts, RequestMetrics
from service import Service

PAGE = Path(__file__).with_name("page.html")


def make_app(folder, **settings):
    """The app; arguments are those of `Service`. It takes requests when everything is loaded and compiled."""
    service = Service(folder, **settings)
    counts = RequestCounts(["/", "/predict", "/feedback", "/status", "/metrics", "/health"])

    @asynccontextmanager
    async def lifespan(app):
        await service.start()
        yield
        await service.stop()

    async def predict(request):
        return JSONResponse(service.predict(await body_of(request, ("id", "row"))))

    async def feedback(request):
        fields = ("id", "label", "group", "row", "decision")
        return JSONResponse(await service.feedback(await body_of(request, fields)))

    async def status(request):
        learner = service.learner
        return JSONResponse({"now": learner.point(), "history": learner.history, "alarms": learner.alarms,
                             "target": TARGET, "limit": learner.monitor.settings.limit,
                             "confidence": 1 - learner.monitor.settings.level, "pending": len(service.pending.waiting),
                             "dropped": service.pending.dropped, "groups": groups_of(learner.monitor)})

    async def metrics(request):
        learner, pending = service.learner, service.pending
        lines = [f"# TYPE service_{name} gauge\nservice_{name} {value}\n" for name, value in (
            ("fairness_weight", learner.tabular.model.fairness_weight), ("learned_feedbacks", learner.num_learned),
            ("pending_predictions", len(pending.waiting)), ("dropped_predictions", pending.dropped))]
        return PlainTextResponse(learner.monitor.seen().prometheus() + "".join(lines) + counts.prometheus())

    async def health(request):
        return JSONResponse({"status": service.failure or "ready"}, 503 if service.failure else 200)

    async def page(request):
        return HTMLResponse(PAGE.read_text(encoding="utf-8"))

    async def refused(request, error):
        return JSONResponse(error.answer, error.status)

    async def gone(request, error):
        return PlainTextResponse("", 499)  # nobody hears it; counted as what it is, and no error of ours

    routes = [Route("/predict", predict, methods=["POST"]), Route("/feedback", feedback, methods=["POST"]),
              Route("/status", status), Route("/metrics", metrics), Route("/health", health), Route("/", page)]
    app = Starlette(routes=routes, lifespan=lifespan, middleware=[Middleware(RequestMetrics, counts=counts)],
                    exception_handlers={checks.Refused: refused, ClientDisconnect: gone})
    app.state.service = service
    return app


async def body_of(request, fields):
    return checks.body_of(await checks.text_of(request.stream()), fields)


def groups_of(monitor):
    """Rows, rates and accuracy of each group; what is not known is None."""
    return {name: {key: value if value == value else None for key, value in found.items()}
            for name, found in monitor.seen().groups.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default="state", help="where everything is kept (%(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="%(default)s: this machine alone")
    parser.add_argument("--port", type=int, default=8000, help="%(default)s")
    parser.add_argument("--save-every", type=int, default=10_000, help="feedbacks between two saves (%(default)s)")
    parser.add_argument("--max-pending", type=int, default=100_000, help="predictions that wait (%(default)s)")
    parser.add_argument("--remember", type=int, default=REMEMBERED, help="ids that were learned (%(default)s)")
    parser.add_argument("--keep-journal", action="store_true", help="keep what saves have covered")
    given = vars(parser.parse_args())
    host, port = given.pop("host"), given.pop("port")
    app = make_app(**given)
    try:
        app.state.service.open()
    except (AranyaniError, OSError) as error:  # a damaged file, a folder that is in use or cannot be written to
        sys.exit(f"the service does not start: {error}")
    # One process: the model lives in its memory.
    uvicorn.run(app, host=host, port=port, access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
