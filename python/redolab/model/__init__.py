"""Models: what a setting not yet measured would do, from figures that were measured."""
