import './workers.js';
// Imported separately instead of graphiql/style.css, which contains web fonts that are larger than everything else. The page
// uses system fonts.
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import '@graphiql/plugin-explorer/style.css';
import 'graphiql/graphiql.css';
import './style.css';

import { createRoot } from 'react-dom/client';
import { App } from './App.jsx';
import { loadExamples, readLink } from './documents.js';

// The editor handles pasting itself and cancels the event, also if there is nothing to paste. Audits report that as an input that prevents pasting.
addEventListener(
  'paste',
  (event) => {
    if (!event.clipboardData?.types.length) event.stopImmediatePropagation();
  },
  true,
);

const [examples, link] = await Promise.all([loadExamples(), readLink(location.search)]);
createRoot(document.getElementById('root')).render(<App examples={examples} link={link} />);
