// Runs each fenced block of the kind "console" in README.md, CONTRIBUTING.md and docs/, and compares the output with that in the block. Lines that start
// with "$ " are commands, lines that start with "> " continue them, and the others are the output, in which "…" stands for any text in a line. The commands
// of a block run in one shell, and must succeed. A block of the kind "console no-run: REASON" is not run.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = process.env.HELIOGRAPH_ROOT;
const url = process.env.HELIOGRAPH_URL;
const env = { ...process.env, PATH: `${join(root, 'bin')}:${process.env.PATH}` };

/** Starts a gateway with an empty database for the commands that write, and returns the URL of the database. */
async function startEmpty(folder) {
  const process = spawn('heliograph', ['serve', '--demo=off', '--listen=127.0.0.1:0', '--admin-listen=', `--data-dir=${folder}`], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const database = await new Promise((resolve, reject) => {
    let text = '';
    process.stdout.on('data', (part) => {
      text += part;
      const found = /^ *database +(postgres:\S+)$/m.exec(text);
      if (found) resolve(found[1]);
    });
    process.on('exit', () => reject(new Error(`the gateway with an empty database did not start: ${text}`)));
  });
  return { process, database };
}

/** Returns the commands of a block with their output. */
function commands(lines) {
  const all = [];
  for (const line of lines) {
    if (line.startsWith('$ ')) all.push({ text: line.slice(2), output: [] });
    else if (all.length === 0) throw new Error(`the block does not start with a command: ${line}`);
    else if (line.startsWith('> ') && all.at(-1).output.length === 0) all.at(-1).text += `\n${line.slice(2)}`;
    else all.at(-1).output.push(line);
  }
  return all;
}

/** Reports whether a text is the expected one, in which "…" stands for any text in a line. */
function matches(text, expected) {
  const pattern = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.*')}$`).test(text);
}

const END = '=== end of a command ===';
let run = 0;
let failed = 0;
const fail = (at, message) => {
  failed++;
  console.error(`${at}: ${message}`);
};

/** Runs the commands of a block and compares their output. */
function check(at, body, placeholders) {
  const all = commands(body.trimEnd().split('\n'));
  const replace = (text) => placeholders.reduce((s, [from, to]) => s.replaceAll(from, to), text);
  const script = all.map(({ text }) => `${replace(text)} || exit\necho '${END}'`).join('\n');
  let got;
  try {
    got = execFileSync('bash', ['-c', script], { cwd: root, env, encoding: 'utf8', timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const done = error.stdout?.split(`${END}\n`).length ?? 1;
    fail(at, `${all[done - 1]?.text}\n${error.stderr}`);
    return;
  }
  for (const [i, { text, output }] of all.entries()) {
    run++;
    const printed = got.split(`${END}\n`)[i].replaceAll('\r', '').trimEnd();
    if (output.length > 0 && !matches(printed, output.join('\n'))) fail(at, `${text}\nprints\n${printed}\nwant\n${output.join('\n')}`);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'heliograph-docs-'));
// The database server may run as another user.
execFileSync('chmod', ['755', folder]);
const empty = await startEmpty(join(folder, 'data'));
/** What commands have in place of the texts in the documents. */
const placeholders = [
  ['http://localhost:8080', url],
  ['localhost:8080', new URL(url).host],
  ['postgres://heliograph_status@db.internal/heliograph_status', `'${empty.database}'`],
  ['postgres://heliograph_status:secret@db.internal/heliograph_status', `'${empty.database}'`],
];
try {
  for (const file of ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const block of text.matchAll(/^```console(.*)\n([^]*?)^```$/gm)) {
      const at = `${file}:${text.slice(0, block.index).split('\n').length}`;
      const [, info, body] = block;
      if (info === '') check(at, body, placeholders);
      else if (!/^ no-run: \S.+$/.test(info)) fail(at, `"console${info}" is neither "console" nor "console no-run: REASON"`);
      else console.log(`${at}: not run: ${info.slice(' no-run: '.length)}`);
    }
  }
} finally {
  empty.process.kill();
  await new Promise((resolve) => empty.process.on('exit', resolve));
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${run} commands ran, ${failed} problems`);
process.exit(failed > 0 || run < 40 ? 1 : 0);
