// The overview lists all operations. Swagger UI is large, so it is loaded when a reader opens an operation.
import './style.css';
import { matches, SEARCH_LABEL, textOf } from './search.js';

// The script is in a folder below the page; the description is next to the page.
const description = new URL('../openapi.json', import.meta.url).href;

const dark = matchMedia('(prefers-color-scheme: dark)');
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followSystem);
followSystem();

/** Returns an element with attributes and children. */
function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.append(...children);
  return created;
}

/** Returns the paragraphs of a text, in which only `code` is formatted. */
function paragraphs(text) {
  return text.split('\n\n').map((paragraph) =>
    element('p', {}, ...paragraph.split('`').map((part, i) => (i % 2 === 1 ? element('code', {}, part) : part))),
  );
}

const overview = document.getElementById('overview');
const loadSwagger = () => import('./swagger.js');

/** Replaces the overview by Swagger UI, which opens the operation in the address. */
async function openOperation() {
  if (overview.hidden || !location.hash.startsWith('#/')) return;
  overview.setAttribute('aria-busy', 'true');
  const { show } = await loadSwagger();
  overview.hidden = true;
  show(description, document.getElementById('docs'));
}

function showOverview({ info, tags, paths }) {
  document.title = info.title;
  const groups = tags.map((tag) => {
    const rows = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.tags?.[0] === tag.name)
        .map(([method, operation]) => {
          const link = element('a', { href: `#/${tag.name}/${operation.operationId}` },
            element('span', { class: `method ${method}` }, method.toUpperCase()), element('code', {}, path), element('span', {}, operation.summary));
          return { row: element('li', {}, link), text: textOf(tag.name, path, method, operation) };
        }),
    );
    const section = element('section', {}, element('h2', {}, tag.name), ...paragraphs(tag.description ?? ''), element('ul', {}, ...rows.map(({ row }) => row)));
    return { section, rows };
  });
  const none = element('p', { role: 'status' });
  const field = element('input', { type: 'search', placeholder: SEARCH_LABEL, 'aria-label': SEARCH_LABEL });
  field.addEventListener('input', () => {
    let count = 0;
    for (const { section, rows } of groups) {
      const shown = rows.filter(({ row, text }) => !(row.hidden = !matches(text, field.value))).length;
      section.hidden = shown === 0;
      count += shown;
    }
    none.textContent = count === 0 ? 'No operation contains all of these words.' : '';
  });
  const note = element('p', {}, 'Open an operation to read its parameters and responses and to send requests. The description for tools: ',
    element('a', { href: description }, 'openapi.json'), ', ', element('a', { href: description.replace(/json$/, 'yml') }, 'openapi.yml'), '.');
  overview.replaceChildren(element('h1', {}, info.title, ' ', element('small', {}, info.version)), ...paragraphs(info.description), note, field, none,
    ...groups.map(({ section }) => section));
  overview.addEventListener('pointerover', loadSwagger, { once: true });
}

addEventListener('hashchange', openOperation);
if (location.hash.startsWith('#/')) {
  openOperation();
} else {
  const response = await fetch(description);
  if (response.ok) showOverview(await response.json());
  else overview.textContent = `The description is not available: status ${response.status}. Reload the page.`;
}
