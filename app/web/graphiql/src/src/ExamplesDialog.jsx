import { Dialog } from '@graphiql/react';
import { useId, useState } from 'react';

const MOVES = { ArrowDown: 1, ArrowUp: -1 };

/** Returns the examples that contain all words of the text. Those with all words in their titles come first. */
function find(examples, text) {
  const words = text.toLowerCase().split(/\s+/);
  const has = (content) => words.every((word) => content.toLowerCase().includes(word));
  const titled = ({ group, title, sentence }) => has(`${group} ${title} ${sentence}`);
  return examples
    .filter(({ group, title, sentence, tab }) => has(`${group} ${title} ${sentence} ${tab.query}`))
    .sort((a, b) => titled(b) - titled(a));
}

/**
 * The examples in groups, with a search. Arrow keys move between the examples, and Enter in the search opens the first one.
 * @param {{ examples: import('./documents.js').Example[], onClose: () => void, onTab: (tab: object) => void }} props
 */
export function ExamplesDialog({ examples, onClose, onTab }) {
  const [text, setText] = useState('');
  const id = useId();
  const found = find(examples, text.trim());
  const groups = [...new Set(found.map(({ group }) => group))];

  function open(example) {
    if (example && !example.missing) {
      onTab(example.tab);
      onClose();
    }
  }

  function onKeyDown(event) {
    if (event.key in MOVES) {
      const stops = [...event.currentTarget.querySelectorAll('input, li button')];
      const next = stops[stops.indexOf(document.activeElement) + MOVES[event.key]];
      event.preventDefault();
      next?.focus();
    } else if (event.key === 'Enter' && event.target.type === 'search' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      open(found.find(({ missing }) => !missing));
    }
  }

  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <div className="graphiql-dialog-header">
        <Dialog.Title className="graphiql-dialog-title">Examples</Dialog.Title>
        <Dialog.Close />
      </div>
      <div className="heliograph-examples" onKeyDown={onKeyDown}>
        <Dialog.Description className="graphiql-dialog-section-caption">
          Documents to start from. Their variables name objects of the connected database.
        </Dialog.Description>
        <input
          type="search"
          aria-label="Search the examples"
          placeholder="Search: a title, a type or a field"
          value={text}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="heliograph-examples-list">
          {groups.map((group, index) => (
            <section key={group} aria-labelledby={`${id}-${index}`}>
              <h3 id={`${id}-${index}`}>{group}</h3>
              <ul>
                {found
                  .filter((example) => example.group === group)
                  .map((example) => (
                    <li key={example.name}>
                      <button type="button" aria-disabled={Boolean(example.missing)} onClick={() => open(example)}>
                        <strong>{example.title}</strong>
                        <span>{example.sentence}</span>
                        {example.missing && <em>This database has no {example.missing}.</em>}
                      </button>
                    </li>
                  ))}
              </ul>
            </section>
          ))}
          <p role="status">{found.length === 0 && 'No example contains these words.'}</p>
        </div>
      </div>
    </Dialog>
  );
}
