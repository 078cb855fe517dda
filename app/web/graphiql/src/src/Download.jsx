import { useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { downloadCSV } from './csv.js';

/** A button that saves all rows of the list in the open document. An error is shown as the response. */
export function Download() {
  const { queryEditor, variableEditor, headerEditor, responseEditor, operationName } = useGraphiQL((state) => ({
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
    headerEditor: state.headerEditor,
    responseEditor: state.responseEditor,
    operationName: state.operationName,
  }));
  const [running, setRunning] = useState(false);

  async function download() {
    setRunning(true);
    try {
      const [query, variables, headers] = [queryEditor, variableEditor, headerEditor].map((editor) => editor?.getValue() ?? '');
      await downloadCSV({ query, variables, headers, operationName });
    } catch ({ message }) {
      responseEditor?.setValue(message);
    }
    setRunning(false);
  }

  return (
    <button type="button" className="heliograph-download" title="Download all rows of the list" onClick={download} disabled={running}>
      {running ? 'Downloading …' : 'CSV'}
    </button>
  );
}
