import { explorerPlugin } from '@graphiql/plugin-explorer';
import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import { HISTORY_PLUGIN, GraphiQL } from 'graphiql';
import { ToolbarButton, useGraphiQL } from '@graphiql/react';
import { useEffect, useState } from 'react';
import { addressFollower, copyText, shortLinkTo } from './address.js';
import { clear } from './events.js';
import { Events } from './Events.jsx';
import { ExamplesDialog } from './ExamplesDialog.jsx';
import { createFetcher, TRANSPORTS } from './fetcher.js';
import { ExamplesIcon, LinkIcon, Mark, RestIcon } from './icons.jsx';
import { Measure } from './Measure.jsx';
import { Pictures } from './Pictures.jsx';
import { PLAN_PLUGIN } from './PlanPanel.jsx';
import { lastTab, remember, remembered } from './preferences.js';
import { RestDialog } from './RestDialog.jsx';
import { useCalmStart } from './useCalmStart.js';
import { useLeaveEditors } from './useLeaveEditors.js';
import { useOpenTab } from './useOpenTab.js';
import { markReady } from './workers.js';

const TRANSPORT_KEY = 'heliograph:subscriptions';
const COPY_LABEL = 'Copy a link to this tab';

// GraphiQL compares these by identity, so they are created once.
const explorer = explorerPlugin({ showAttribution: false });
const plugins = [HISTORY_PLUGIN, explorer, PLAN_PLUGIN];

// GraphiQL reloads the schema when the fetcher changes. Therefore the fetcher stays the same and reads the current transport.
let transport = remembered(TRANSPORT_KEY) === 'websocket' ? 'websocket' : 'sse';
const fetcher = createFetcher(() => transport);

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
  const [listed, setListed] = useState(false);
  const [copyLabel, setCopyLabel] = useState(COPY_LABEL);

  useEffect(() => {
    if (queryEditor) {
      setTimeout(markReady); // after the editor is drawn
    }
  }, [queryEditor]);

  async function copyLink() {
    const tab = {
      query: queryEditor?.getValue() ?? '',
      variables: variableEditor?.getValue() ?? '',
      operationName: operationName ?? null,
    };
    const address = shortLinkTo(tab);
    if (!address) {
      setCopyLabel('The document is too long for a link');
    } else {
      setCopyLabel((await copyText(address)) ? 'Link copied' : 'Copy the link from the address bar');
    }
    setTimeout(() => setCopyLabel(COPY_LABEL), 2000);
  }

  return (
    <>
      {prettify}
      {merge}
      {copy}
      <ToolbarButton label={copyLabel} onClick={copyLink}>
        <LinkIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      <ToolbarButton label="Open a REST call" onClick={() => setDialog({ text: '', error: '' })}>
        <RestIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      {examples.length > 0 && (
        <ToolbarButton label="Examples" onClick={() => setListed(true)}>
          <ExamplesIcon className="graphiql-toolbar-icon" aria-hidden="true" />
        </ToolbarButton>
      )}
      {listed && <ExamplesDialog examples={examples} onClose={() => setListed(false)} onTab={openTab} />}
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

/** Returns the function that GraphiQL calls after changes of tabs and documents. */
function onTabChange(initial) {
  const followTab = addressFollower(initial);
  let active = null;
  return (state) => {
    const { id } = state.tabs[state.activeTabIndex];
    if (active !== null && active !== id) {
      clear(); // the events are those of another tab
    }
    active = id;
    followTab(state);
  };
}

/**
 * @param {object} props
 * @param {Awaited<ReturnType<import('./documents.js').loadExamples>>} props.examples
 * @param {Awaited<ReturnType<import('./documents.js').readLink>>} props.link
 */
export function App({ examples, link }) {
  const last = lastTab();
  const narrow = matchMedia('(max-width: 900px)').matches;
  const first = examples.filter(({ group, missing }) => group === examples[0].group && !missing);
  const tabs = [...(link.tab ? [link.tab] : []), ...first.map(({ tab }) => tab)];
  const shown = link.tab ?? last ?? tabs[0];
  const [followTab] = useState(() => onTabChange(shown));

  return (
    <GraphiQL
      fetcher={fetcher}
      plugins={plugins}
      visiblePlugin={!last && !narrow ? DOC_EXPLORER_PLUGIN : undefined}
      defaultTabs={tabs.length > 0 ? tabs : undefined}
      initialQuery={shown?.query}
      initialVariables={shown?.variables}
      defaultEditorToolsVisibility={narrow ? Boolean(shown?.variables) : true}
      inputValueDeprecation
      schemaDescription
      onTabChange={followTab}
    >
      <GraphiQL.Logo>
        <h1 className="heliograph-brand">
          <Mark aria-hidden="true" />
          Heliograph
        </h1>
      </GraphiQL.Logo>
      <GraphiQL.Toolbar>{(buttons) => <Tools examples={examples} link={link} {...buttons} />}</GraphiQL.Toolbar>
      <GraphiQL.Footer>
        <Events />
        <Pictures />
        <div className="heliograph-footer">
          <Measure />
          <SubscriptionTransport />
        </div>
      </GraphiQL.Footer>
    </GraphiQL>
  );
}
