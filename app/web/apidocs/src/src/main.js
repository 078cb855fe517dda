import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './style.css';

// The script is in a folder below the page; the description is next to the page.
const description = new URL('../openapi.json', import.meta.url).href;

const dark = matchMedia('(prefers-color-scheme: dark)');
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followSystem);
followSystem();

/** Returns the text of an operation that the search compares with its words. */
function textOf(tag, operation) {
  const { path, method, id, operation: details } = operation.toJS();
  const parameters = (details.parameters ?? []).flatMap(({ name, description }) => [name, description]);
  return [tag, path, method, id, details.summary, details.description, ...parameters].join(' ').toLowerCase();
}

/** Searches tags, paths, summaries, descriptions and parameters, instead of the names of tags only. All words must occur. */
const search = () => ({
  fn: {
    opsFilter: (tags, phrase) => {
      const words = phrase.toLowerCase().split(/\s+/);
      return tags
        .map((group, tag) =>
          group.update('operations', (operations) =>
            operations.filter((operation) => words.every((word) => textOf(tag, operation).includes(word))),
          ),
        )
        .filter((group) => group.get('operations').size > 0);
    },
  },
});

function nameSearch() {
  const field = document.querySelector('.operation-filter-input');
  field?.setAttribute('placeholder', 'Search paths, descriptions and parameters');
  field?.setAttribute('aria-label', 'Search paths, descriptions and parameters');
}

SwaggerUI({
  url: description,
  domNode: document.getElementById('docs'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  plugins: [search],
  onComplete: nameSearch,
  tryItOutEnabled: true,
  // Disables the validator, which is on another host.
  validatorUrl: null,
});
