import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useCallback, useEffect, useRef } from 'react';

/**
 * @param {import('./documents.js').Tab | null} opened A tab that is open initially.
 * @returns {(tab: import('./documents.js').Tab) => void} Opens a document: in the tab that contains it already, or in
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

  // After the editor has parsed a new document, which takes some time, it selects the first operation. An operation
  // that is requested by name is therefore selected after that.
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
