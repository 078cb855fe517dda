import { Dialog } from '@graphiql/react';
import { useId, useState } from 'react';
import { explain, restCall } from './documents.js';

/**
 * Converts a REST call to its GraphQL document.
 * @param {{ initial: { text: string, error: string }, onClose: () => void, onTab: (tab: object) => void }} props
 */
export function RestDialog({ initial, onClose, onTab }) {
  const [text, setText] = useState(initial.text);
  const [error, setError] = useState(initial.error);
  const [busy, setBusy] = useState(false);
  const inputId = useId();
  const errorId = useId();

  async function submit(event) {
    event.preventDefault();
    const call = restCall(text);
    if (!call) {
      setError('Enter a REST call, for example /api/v1/accounts?limit=5.');
      return;
    }
    setBusy(true);
    setError('');
    try {
      const tab = await explain(call);
      onTab(tab);
      onClose();
    } catch (problem) {
      setError(problem.message);
      setBusy(false);
    }
  }

  // Calls usually have one line, so Enter submits, and Shift+Enter inserts a line break.
  function submitOnEnter(event) {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      event.currentTarget.form.requestSubmit();
    }
  }

  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <div className="graphiql-dialog-header">
        <Dialog.Title className="graphiql-dialog-title">Open a REST call</Dialog.Title>
        <Dialog.Close />
      </div>
      <form className="heliograph-rest" onSubmit={submit}>
        <Dialog.Description className="graphiql-dialog-section-caption">
          Every REST call runs a GraphQL document. Paste a path, an address or a curl command to open that document in a
          tab. What is sent with POST follows the path; a transaction may be in hex or base64.
        </Dialog.Description>
        <label htmlFor={inputId}>REST call</label>
        <textarea
          id={inputId}
          rows={4}
          value={text}
          placeholder={'/api/v1/accounts?limit=5&order=asc\nPOST /api/v1/contracts/call {"to": "0x…", "data": "0x…"}'}
          autoFocus
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          aria-invalid={Boolean(error)}
          aria-describedby={errorId}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={submitOnEnter}
        />
        <p id={errorId} className="heliograph-rest-error" role="alert">
          {error}
        </p>
        <button type="submit" disabled={busy}>
          {busy ? 'Opening…' : 'Open'}
        </button>
      </form>
    </Dialog>
  );
}
