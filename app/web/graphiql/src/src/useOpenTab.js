import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useCallback, useEffect, useRef } from 'react';

/**
 * @param {import('./documents.js').Tab | null} opened A tab that is open from the start.
 * @returns {(tab: import('./documents.js').Tab) => void} Shows a document: in the tab that holds it already, else in
 *   a new one.
 */
export function useOpenTab(opened) {
  const { addTab, changeTab, setOperationName, updateActiveTabValues } = useGraphiQLActions();
  const { queryEditor, variableEditor, tabs, documentAST } = useGraphiQL((state) => ({
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
    tabs: state.tabs,
    documentAST: state.documentAST,
  }));

  // The editor chooses the first operation whenever it has parsed a new document, some time after it was set. An
  // operation asked for by name is therefore chosen once that document is the parsed one.
  const awaited = useRef(opened?.operationName ? opened : null);
  useEffect(() => {
    const tab = awaited.current;
    if (tab && documentAST?.loc?.source.body === tab.query) {
      awaited.current = null;
      setOperationName(tab.operationName);
    }
  }, [documentAST, setOperationName]);

  return useCallback(
    (tab) => {
      const index = tabs.findIndex(
        ({ query, variables }) => query === tab.query && (variables ?? '') === tab.variables,
      );
      awaited.current = tab.operationName ? tab : null;
      if (index >= 0) {
        changeTab(index);
        return;
      }
      addTab();
      queryEditor?.setValue(tab.query);
      variableEditor?.setValue(tab.variables);
      updateActiveTabValues(tab);
    },
    [addTab, changeTab, queryEditor, tabs, updateActiveTabValues, variableEditor],
  );
}
