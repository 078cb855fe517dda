import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN, GraphiQL } from 'graphiql';
import { ToolbarButton, ToolbarMenu, UnStyledButton, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { linkTo } from './documents.js';
import { createFetcher, TRANSPORTS } from './fetcher.js';
import { ExamplesIcon, LinkIcon, Mark, RestIcon } from './icons.jsx';
import { lastTab, remember, remembered } from './preferences.js';
import { RestDialog } from './RestDialog.jsx';
import { useCalmStart } from './useCalmStart.js';
import { useLeaveEditors } from './useLeaveEditors.js';
import { useOpenTab } from './useOpenTab.js';

const TRANSPORT_KEY = 'heliograph:subscriptions';

// GraphiQL compares these by identity, so they are created once.
const explorer = explorerPlugin({ showAttribution: false });
const plugins = [HISTORY_PLUGIN, explorer];

// GraphiQL reloads the schema when the fetcher changes. Therefore the fetcher stays the same and reads the current transport.
let transport = remembered(TRANSPORT_KEY) === 'websocket' ? 'websocket' : 'sse';
const fetcher = createFetcher(() => transport);

/** Removes the document from the URL after an edit, so that a reload does not restore the old text. */
function forgetLink() {
  if (location.search) {
    history.replaceState(null, '', location.pathname);
  }
}

function Tools({ examples, link, prettify, copy, merge }) {
  const openTab = useOpenTab(link.tab);
  useCalmStart();
  useLeaveEditors();
  const { queryEditor, variableEditor, operationName } = useGraphiQL((state) => ({
    queryEditor: state.queryEditor,
    variableEditor: state.variableEditor,
    operationName: state.operationName,
  }));
  const [dialog, setDialog] = useState(link.rest);
  const [copied, setCopied] = useState(false);

  async function copyLink() {
    const tab = {
      query: queryEditor?.getValue() ?? '',
      variables: variableEditor?.getValue() ?? '',
      operationName: operationName ?? null,
    };
    await navigator.clipboard.writeText(linkTo(tab));
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  }

  return (
    <>
      {prettify}
      {merge}
      {copy}
      {/* Browsers offer the clipboard to pages from a secure origin only. */}
      {navigator.clipboard && (
        <ToolbarButton label={copied ? 'Link copied' : 'Copy a link to this tab'} onClick={copyLink}>
          <LinkIcon className="graphiql-toolbar-icon" aria-hidden="true" />
        </ToolbarButton>
      )}
      <ToolbarButton label="Open a REST call" onClick={() => setDialog({ text: '', error: '' })}>
        <RestIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      {examples.length > 0 && (
        <ToolbarMenu
          button={
            <UnStyledButton type="button" className="graphiql-toolbar-button" aria-label="Examples" title="Examples">
              <ExamplesIcon className="graphiql-toolbar-icon" aria-hidden="true" />
            </UnStyledButton>
          }
        >
          {examples.map(({ name, title, tab }) => (
            <ToolbarMenu.Item key={name} onSelect={() => openTab(tab)}>
              {title}
            </ToolbarMenu.Item>
          ))}
        </ToolbarMenu>
      )}
      {dialog && <RestDialog initial={dialog} onClose={() => setDialog(null)} onTab={openTab} />}
    </>
  );
}

function SubscriptionTransport() {
  const [value, setValue] = useState(transport);
  function choose(event) {
    transport = event.target.value;
    remember(TRANSPORT_KEY, transport);
    setValue(transport);
  }
  return (
    <fieldset className="heliograph-transport">
      <legend>Subscriptions over</legend>
      {TRANSPORTS.map((choice) => (
        <label key={choice.value}>
          <input
            type="radio"
            name="subscription-transport"
            value={choice.value}
            checked={value === choice.value}
            onChange={choose}
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  );
}

/**
 * @param {object} props
 * @param {Awaited<ReturnType<import('./documents.js').loadExamples>>} props.examples
 * @param {Awaited<ReturnType<import('./documents.js').readLink>>} props.link
 */
export function App({ examples, link }) {
  const last = lastTab();
  const narrow = matchMedia('(max-width: 900px)').matches;
  const tabs = [...(link.tab ? [link.tab] : []), ...examples.filter(({ role }) => role).map(({ tab }) => tab)];
  const shown = link.tab ?? last ?? tabs[0];

  return (
    <GraphiQL
      fetcher={fetcher}
      plugins={plugins}
      visiblePlugin={!last && !narrow ? explorer : undefined}
      defaultTabs={tabs.length > 0 ? tabs : undefined}
      initialQuery={shown?.query}
      initialVariables={shown?.variables}
      defaultEditorToolsVisibility={narrow ? Boolean(shown?.variables) : true}
      inputValueDeprecation
      schemaDescription
      onEditQuery={forgetLink}
      onEditVariables={forgetLink}
    >
      <GraphiQL.Logo>
        <span className="heliograph-brand">
          <Mark aria-hidden="true" />
          Heliograph
        </span>
      </GraphiQL.Logo>
      <GraphiQL.Toolbar>{(buttons) => <Tools examples={examples} link={link} {...buttons} />}</GraphiQL.Toolbar>
      <GraphiQL.Footer>
        <SubscriptionTransport />
      </GraphiQL.Footer>
    </GraphiQL>
  );
}
