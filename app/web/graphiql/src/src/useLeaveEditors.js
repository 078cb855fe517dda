import { KeyCode, useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

// Escape first closes whatever the editor has open; each of these is something that it closes or undoes.
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

/** Lets Escape lead out of an editor, in which Tab indents: from its frame, Tab goes on and Enter leads back in. */
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
