# SPDX-License-Identifier: Apache-2.0
"""All studies, in the order of the page."""

from ..study import Study
from . import boards, chirping, few, misconfigured, noisy, products, protodune_hd, protodune_vd, rcrc, steps

STUDIES: tuple[Study, ...] = (
    rcrc.STUDY,
    chirping.STUDY,
    noisy.STUDY,
    misconfigured.STUDY,
    steps.STUDY,
    boards.STUDY,
    few.STUDY,
    protodune_hd.STUDY,
    protodune_vd.STUDY,
    products.STUDY,
)
