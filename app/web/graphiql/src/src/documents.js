import { examplesURL, explainURL } from './endpoints.js';
import { findObjects, NEEDS } from './objects.js';
import { storedTabs } from './preferences.js';

/**
 * A document with its variables, as in the editors.
 * @typedef {{ query: string, variables: string, operationName: string | null }} Tab
 */

const REQUEST_TIMEOUT_MS = 20_000;

/** Formats JSON. Other text is returned unchanged, so that the editor can mark the error. */
function prettyJSON(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function getJSON(url, { headers, ...rest } = {}) {
  const response = await fetch(url, {
    ...rest,
    headers: { accept: 'application/json', ...headers },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  let body = null;
  try {
    body = await response.json();
  } catch {
    // If the body is not JSON (for example the error page of a proxy), the status is reported instead.
  }
  return { response, body };
}

/**
 * An example. If the database has no object for one of its variables, missing describes that object.
 * @typedef {{ name: string, group: string, title: string, sentence: string, tab: Tab, missing: string | null }} Example
 */

/** Returns the variables of an example with values of the connected database, if they are known, and what is missing for them. */
function variablesOf(given, objects) {
  const entries = Object.entries(given ?? {}).map(([name, value]) => [name, objects && name in NEEDS ? objects[name] : value]);
  const lacking = entries.find(([, value]) => value === undefined);
  return {
    variables: entries.length > 0 ? JSON.stringify(Object.fromEntries(entries), null, 2) : '',
    missing: lacking ? NEEDS[lacking[0]] : null,
  };
}

/** @returns {Promise<Example[]>} The examples, or an empty list if they cannot be loaded: the page works without them. */
export async function loadExamples() {
  try {
    const [{ response, body }, objects] = await Promise.all([getJSON(examplesURL), findObjects()]);
    if (!response.ok || !Array.isArray(body)) {
      return [];
    }
    return body.map(({ name, group, title, query, variables: given }) => {
      const [heading, sentence] = title.split(/:\s+(.*)/);
      const { variables, missing } = variablesOf(given, objects);
      return { name, group, title: heading, sentence: sentence ?? '', missing, tab: { query, variables, operationName: null } };
    });
  } catch {
    return [];
  }
}

/**
 * A REST call: a path with its query string, and the body of a POST. If the body is null, the gateway uses an example body.
 * @typedef {{ path: string, post: boolean, body: string | null }} Call
 */

/** Splits a command into words like a shell: at spaces, except in quotes and after a backslash. */
function shellWords(text) {
  const words = [];
  let word = null;
  for (const [, space, single, double, escaped, plain] of text.matchAll(
    /(\s+)|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+|['"\\])/g,
  )) {
    if (space !== undefined) {
      if (word !== null) {
        words.push(word);
      }
      word = null;
    } else if (escaped !== '\n') {
      word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`\n])/g, '$1') ?? escaped ?? plain);
    }
  }
  return word === null ? words : [...words, word];
}

// The options of curl that set the body, and the other options that have a value.
const BODY_OPTIONS = /^(-d|--data|--data-raw|--data-binary|--data-ascii|--json)$/;
const VALUE_OPTIONS = /^(-[AbcCeHmotTuUwxyYz]|--(header|user|user-agent|output|max-time|connect-timeout|cookie|referer|proxy|retry))$/;

function curlCall(words) {
  const call = { address: '', post: false, body: null };
  for (let i = 1; i < words.length; i++) {
    const [, option, joined] = /^(--[a-z-]+)=([\s\S]*)$/.exec(words[i]) ?? [null, words[i], null];
    const value = () => joined ?? words[++i] ?? '';
    if (BODY_OPTIONS.test(option)) {
      call.body = (call.body === null ? '' : `${call.body}&`) + value();
      call.post = true;
    } else if (/^(-X|--request)$/.test(option)) {
      call.post = value().toUpperCase() === 'POST';
    } else if (/^-X./.test(option)) {
      call.post = option.slice(2).toUpperCase() === 'POST';
    } else if (VALUE_OPTIONS.test(option)) {
      value();
    } else if (!option.startsWith('-')) {
      call.address = option;
    } else if (option === '--url') {
      call.address = value();
    }
  }
  return call;
}

function writtenCall(text) {
  const [, method, address, body] = /^(?:(GET|HEAD|POST)\s+)?(\S*)\s*([\s\S]*)$/i.exec(text);
  const given = body.replace(/^HTTP\/[\d.]+\s*/i, '');
  return { address, post: method?.toUpperCase() === 'POST' || given !== '', body: given || null };
}

/**
 * Parses a REST call: a path or URL, optionally with a method before it and a body after it, or a curl command.
 * @param {string} text
 * @returns {Call | null} Null if the text has no path.
 */
export function restCall(text) {
  const trimmed = text.trim();
  const quoted = /^(['"])([\s\S]*)\1$/.exec(trimmed);
  const { address, post, body } = /^curl\s/i.test(trimmed) ? curlCall(shellWords(trimmed)) : writtenCall(quoted ? quoted[2] : trimmed);
  if (!address) {
    return null;
  }
  const path = address.replace(/^(https?:\/\/[^/?#]*|[\w.-]+:\d+(?=\/))/i, '').replace(/#.*$/, '');
  return { path: path.startsWith('/') ? path : `/${path}`, post, body };
}

/** Returns the bytes of a body. Binary bodies, such as transactions, are hexadecimal or base64. */
function bodyBytes(body) {
  if (body.startsWith('@')) {
    throw new Error('Files cannot be read here. Paste the content as text, hexadecimal or base64.');
  }
  const text = body.trim();
  if (/^(0x)?([0-9a-f]{2})+$/i.test(text)) {
    return Uint8Array.from(text.replace(/^0x/i, '').match(/../g), (pair) => parseInt(pair, 16));
  }
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) {
    try {
      return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
    } catch {
      // Not base64: the body is text.
    }
  }
  return new TextEncoder().encode(body);
}

/**
 * Requests the document of a REST call from the gateway.
 * @param {Call} call
 * @returns {Promise<Tab>}
 * @throws {Error} with a message for the user.
 */
export async function explain({ path, post, body }) {
  const sent = post && body !== null ? { method: 'POST', body: bodyBytes(body), headers: { 'content-type': 'application/octet-stream' } } : {};
  let answer;
  try {
    answer = await getJSON(explainURL(post ? `POST ${path}` : path), sent);
  } catch (error) {
    throw new Error(
      error.name === 'TimeoutError' ? 'The gateway did not respond in time.' : 'The gateway cannot be reached.',
    );
  }
  const { response, body: told } = answer;
  if (typeof told?.error === 'string') {
    throw new Error(told.error);
  }
  if (!response.ok || typeof told?.query !== 'string') {
    throw new Error(`The gateway could not explain this path (HTTP status ${response.status}).`);
  }
  const variables = told.variables && Object.keys(told.variables).length > 0 ? told.variables : null;
  return {
    query: told.query,
    variables: variables ? JSON.stringify(variables, null, 2) : '',
    operationName: told.operationName || null,
  };
}

/**
 * Reads a link of the form ?query=…&variables=…&operationName=… or ?rest=….
 * @param {string} search
 * @returns {Promise<{ tab: Tab | null, rest: { text: string, error: string } | null }>} The tab to open, or the error
 *   of the REST call.
 */
export async function readLink(search) {
  const parameters = new URLSearchParams(search);
  const query = parameters.get('query');
  if (query) {
    const variables = parameters.get('variables') ?? '';
    // The page writes the text of the open tab to its URL. After a reload, the same text opens that tab again.
    const stored = storedTabs().some((tab) => tab.query === query && (tab.variables ?? '') === variables);
    const tab = {
      query,
      variables: stored ? variables : prettyJSON(variables),
      operationName: parameters.get('operationName') || null,
    };
    return { tab, rest: null };
  }
  const text = parameters.get('rest') ?? '';
  const call = restCall(text);
  if (!call) {
    return { tab: null, rest: null };
  }
  try {
    return { tab: await explain(call), rest: null };
  } catch (error) {
    return { tab: null, rest: { text, error: error.message } };
  }
}

/**
 * @param {Tab} tab
 * @returns {string} The URL that opens the tab.
 */
export function linkTo({ query, variables, operationName }) {
  const url = new URL(location.pathname, location.origin);
  url.searchParams.set('query', query);
  if (variables.trim()) {
    url.searchParams.set('variables', variables);
  }
  if (operationName) {
    url.searchParams.set('operationName', operationName);
  }
  return url.href;
}
