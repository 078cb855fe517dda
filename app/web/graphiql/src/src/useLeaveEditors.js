import { KeyCode, useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

// In these states of the editor, Escape closes a widget or clears a selection.
const NOTHING_OPEN = [
  'suggestWidgetVisible',
  'findWidgetVisible',
  'parameterHintsVisible',
  'editorHoverVisible',
  'markersNavigationVisible',
  'referenceSearchVisible',
  'inSnippetMode',
  'editorHasSelection',
  'editorHasMultipleSelections',
]
  .map((context) => `!${context}`)
  .join(' && ');

/** Escape moves the focus from an editor, where Tab indents, to its frame. There, Tab moves to the next control and Enter back to the editor. */
export function useLeaveEditors() {
  const editors = useGraphiQL(({ queryEditor, variableEditor, headerEditor, responseEditor }) => ({
    queryEditor,
    variableEditor,
    headerEditor,
    responseEditor,
  }));
  useEffect(() => {
    const actions = Object.values(editors)
      .filter(Boolean)
      .map((editor) =>
        editor.addAction({
          id: 'heliograph.leave',
          label: 'Leave the Editor',
          keybindings: [KeyCode.Escape],
          precondition: NOTHING_OPEN,
          run: () => editor.getContainerDomNode().focus(),
        }),
      );
    return () => actions.forEach((action) => action.dispose());
  }, [editors]);
}
