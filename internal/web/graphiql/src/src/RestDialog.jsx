import { Dialog } from '@graphiql/react';
import { useId, useState } from 'react';
import { explain, restPath } from './documents.js';

/**
 * Turns a REST call into its GraphQL document.
 * @param {{ initial: { path: string, error: string }, onClose: () => void, onTab: (tab: object) => void }} props
 */
export function RestDialog({ initial, onClose, onTab }) {
  const [text, setText] = useState(initial.path);
  const [error, setError] = useState(initial.error);
  const [busy, setBusy] = useState(false);
  const inputId = useId();
  const errorId = useId();

  async function submit(event) {
    event.preventDefault();
    const path = restPath(text);
    if (!path) {
      setError('Enter a REST path, for example /api/v1/accounts?limit=5.');
      return;
    }
    setBusy(true);
    setError('');
    try {
      const tab = await explain(path);
      onTab(tab);
      onClose();
    } catch (problem) {
      setError(problem.message);
      setBusy(false);
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
          Every REST call runs a GraphQL document. Paste a path or an address to open that document in a tab.
        </Dialog.Description>
        <label htmlFor={inputId}>REST path or address</label>
        <input
          id={inputId}
          type="text"
          inputMode="url"
          value={text}
          placeholder="/api/v1/accounts?limit=5&order=asc"
          autoFocus
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          aria-invalid={Boolean(error)}
          aria-describedby={errorId}
          onChange={(event) => setText(event.target.value)}
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
