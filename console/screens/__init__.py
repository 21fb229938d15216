"""The screens. Each draws a `console.state.ConsoleState` and sends commands through its app."""
