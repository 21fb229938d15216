"""The demo's upstream servers: a document store, a log source and a JSON API.

Each module holds invented but realistic data, made from fixed seeds so that every run answers the same
bytes, and a `serving.DemoServer` that describes its tools. The protocol itself is the official SDK's.
"""
