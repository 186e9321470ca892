# SPDX-License-Identifier: Apache-2.0
"""Quantities over time: samples of the recorder, and metrics of the GPUs in nsys exports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .profile import Profile
from .table import Labels, Table


@dataclass(frozen=True)
class Samples:
    """Values of a metric of a source, by time. Values that were not measured are left out."""

    source: str
    metric: str
    time: np.ndarray  # ns
    value: np.ndarray


@lru_cache(maxsize=1)  # several tables and charts of one profile need them
def recorder_samples(profile: Profile) -> list[Samples]:
    """Return the samples by source and metric, in alphabetical order; none if the file has none."""
    if not profile.has("SPNG_SAMPLE"):
        return []
    table = profile.table("SPNG_SAMPLE")
    return _by_metric(table, "t", table.text_column("source"), table.text_column("metric"))


def gpu_metrics(profile: Profile) -> list[Samples]:
    """Return the metrics by device and name; none if the file has none."""
    if not profile.has("GPU_METRICS"):
        return []
    table = profile.table("GPU_METRICS")
    names = profile.pairs("TARGET_INFO_GPU_METRICS", "metricId", "metricName", int, str)
    devices, device = np.unique(table.integers("typeId") & 0xFF, return_inverse=True)
    metrics, metric = np.unique(table.integers("metricId"), return_inverse=True)
    titles = [names.get(identifier, f"metric {identifier}") for identifier in metrics.tolist()]
    sources = [f"GPU {index} metrics" for index in devices.tolist()]
    return _by_metric(table, "timestamp", Labels(device, sources), Labels(metric, titles))


def _by_metric(table: Table, column: str, sources: Labels, metrics: Labels) -> list[Samples]:
    time, value = table.integers(column), table.reals("value")
    found = []
    for source, metric in sorted(set(zip(sources.to_list(), metrics.to_list()))):
        mine = np.flatnonzero(
            sources.matching(source.__eq__) & metrics.matching(metric.__eq__) & ~np.isnan(value)
        )
        mine = mine[np.argsort(time[mine], kind="stable")]
        found.append(Samples(source, metric, time[mine], value[mine]))
    return found
