"""How an upstream is reached: one file per transport, all behind `proxy.links.link.Link`."""
