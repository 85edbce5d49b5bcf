"""Models: forecasts of settings not yet measured, from figures that were measured."""
