"""The person's side: the Textual app, the command line and the wiring of everything.

Screens read view models and send commands through one port, `console.station.Station`; they never see
the engine. Every text that comes from an upstream passes `console.safe.safe` before it is shown.
"""
