import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './style.css';

// The script is in a folder below the page; the description is next to the page.
const description = new URL('../openapi.json', import.meta.url).href;

const dark = matchMedia('(prefers-color-scheme: dark)');
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followSystem);
followSystem();

SwaggerUI({
  url: description,
  domNode: document.getElementById('docs'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  // Disables the validator, which is on another host.
  validatorUrl: null,
});
