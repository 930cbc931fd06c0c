"""The curriculum as pages for any file server: prose, pictures, tasks, and the engine itself.

``write(folder)`` makes them (`writing`). What a kernel is to a notebook, `kernel` is to a page: it runs under
Pyodide in the reader's browser, and needs none of Bokeh, ipywidgets or a server.
"""
