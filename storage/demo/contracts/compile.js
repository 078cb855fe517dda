// Compiles the contracts beside this file into compiled.json (abi, bytecode, runtime bytecode of each).
//
//   npm install --no-save solc@0.8.30 && node compile.js
//
// With --check it writes nothing, and fails when compiled.json is not what it would have written; `make test-clients` runs that.
//
// The compiler's version and settings are fixed so that the output is the same everywhere. Metadata hashes are left
// out of the bytecode: they would change with every comment.
const fs = require('fs')
const path = require('path')
const solc = require('solc')

const sources = {}
for (const file of fs.readdirSync(__dirname).filter((f) => f.endsWith('.sol')).sort()) {
  sources[file] = { content: fs.readFileSync(path.join(__dirname, file), 'utf8') }
}
const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: 'Solidity',
      sources,
      settings: {
        evmVersion: 'paris',
        optimizer: { enabled: true, runs: 200 },
        metadata: { bytecodeHash: 'none' },
        outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
      },
    }),
  ),
)
for (const e of output.errors || []) {
  console.error(e.formattedMessage)
  if (e.severity === 'error') process.exitCode = 1
}
const compiled = {}
for (const file of Object.keys(output.contracts || {}).sort()) {
  for (const [name, c] of Object.entries(output.contracts[file])) {
    if (c.evm.bytecode.object === '') continue // an interface
    compiled[name] = {
      abi: c.abi,
      bytecode: c.evm.bytecode.object,
      runtimeBytecode: c.evm.deployedBytecode.object,
    }
  }
}
const file = path.join(__dirname, 'compiled.json')
const text = JSON.stringify({ compiler: solc.version(), contracts: compiled }, null, 1) + '\n'
if (!process.argv.includes('--check')) {
  fs.writeFileSync(file, text)
} else if (fs.readFileSync(file, 'utf8') !== text) {
  console.error('compiled.json is not what the sources compile to: run node compile.js')
  process.exitCode = 1
}
