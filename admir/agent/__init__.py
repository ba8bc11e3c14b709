"""The LangGraph ReAct controller (paper 2.3) and its reliability mechanisms (2.4, B.3)."""
