# SPDX-License-Identifier: Apache-2.0
"""Figures of real detector data: files, runs, measures, bars, pictures and the page of `./wcb physics --real FOLDER`."""
