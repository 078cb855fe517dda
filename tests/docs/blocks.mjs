// Runs each fenced block of the kind "console" in README.md and docs/, and compares the output with that in the block. Lines that start with "$ " are
// commands, lines that start with "> " continue them, and the others are the output. Commands must succeed. A block of the kind "console no-run: REASON"
// is not run.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = process.env.HELIOGRAPH_ROOT;
const url = process.env.HELIOGRAPH_URL;

/** What commands have in place of the texts in the documents. */
const placeholders = [
  ['http://localhost:8080', url],
  ['localhost:8080', new URL(url).host],
];

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

let run = 0;
let failed = 0;
const fail = (at, message) => {
  failed++;
  console.error(`${at}: ${message}`);
};
for (const file of ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]) {
  const text = readFileSync(join(root, file), 'utf8');
  for (const block of text.matchAll(/^```console(.*)\n([^]*?)^```$/gm)) {
    const at = `${file}:${text.slice(0, block.index).split('\n').length}`;
    const [, info, body] = block;
    if (info !== '') {
      if (!/^ no-run: \S.+$/.test(info)) fail(at, `"console${info}" is neither "console" nor "console no-run: REASON"`);
      else console.log(`${at}: not run: ${info.slice(' no-run: '.length)}`);
      continue;
    }
    for (const { text: command, output } of commands(body.trimEnd().split('\n'))) {
      const script = placeholders.reduce((s, [from, to]) => s.replaceAll(from, to), command);
      try {
        const got = execFileSync('bash', ['-c', script], { cwd: root, encoding: 'utf8', timeout: 30_000, stdio: ['ignore', 'pipe', 'pipe'] });
        run++;
        if (output.length > 0 && got.trimEnd() !== output.join('\n')) fail(at, `${command}\nprints\n${got}\nwant\n${output.join('\n')}`);
      } catch (error) {
        fail(at, `${command}\n${error.message}`);
      }
    }
  }
}
console.log(`${run} commands ran, ${failed} problems`);
process.exit(failed > 0 || run < 10 ? 1 : 0);
