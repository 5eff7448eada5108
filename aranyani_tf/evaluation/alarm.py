"""Who is told of an alarm: the log, Weights & Biases, and a function."""

import logging
import sys
from collections.abc import Callable
from typing import Any

from aranyani_tf.evaluation.monitor_report import MonitorReport

logger = logging.getLogger(__name__)


def sound(report: MonitorReport, run: Any, on_alarm: Callable[[MonitorReport], Any] | None) -> None:
    """Logs a warning, sends an alert to the run or else to the one that is active, and calls the function last."""
    logger.warning("%s", report)
    wandb: Any = sys.modules.get("wandb")  # who has a run has imported it
    run = run if run is not None else wandb and wandb.run
    if run is not None:
        run.alert(title=f"{report.notion} above {report.limit:g}", text=str(report), level="WARN")
    if on_alarm is not None:
        on_alarm(report)
