// Tests contract calls with viem, on the contracts of the demo network.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { BaseError, ContractFunctionRevertedError, createPublicClient, defineChain, erc20Abi, erc721Abi, getContract, http } from 'viem'
import { serve } from './shim.mjs'

const gateway = process.env.HELIOGRAPH_URL
const { contracts } = JSON.parse(readFileSync(new URL('../../storage/demo/contracts/compiled.json', import.meta.url)))
const at = (number) => `0x${number.toString(16).padStart(40, '0')}`
const get = async (path) => (await fetch(`${gateway}/api/v1${path}`)).json()

const coin = at(3001)
const none = at(0)
let shim, client, alice, bob, born

before(async () => {
  shim = await serve(gateway)
  const chain = defineChain({
    id: 0x128, name: 'demo', nativeCurrency: { name: 'hbar', symbol: 'HBAR', decimals: 18 }, rpcUrls: { default: { http: [shim.url] } },
  })
  client = createPublicClient({ chain, transport: http(shim.url, { batch: true, retryCount: 0 }) })
  alice = (await get('/accounts/0.0.1001')).evm_address
  bob = (await get('/accounts/0.0.1002')).evm_address
  const { created_timestamp: created } = await get('/contracts/0.0.3001')
  born = BigInt((await get(`/blocks?timestamp=gte:${created}&order=asc&limit=1`)).blocks[0].number)
})

after(() => shim.close())

test('read an ERC-20 contract', async () => {
  const token = getContract({ address: coin, abi: erc20Abi, client })
  const [name, symbol, decimals, supply, balance, allowance] = await Promise.all([
    token.read.name(), token.read.symbol(), token.read.decimals(), token.read.totalSupply(), token.read.balanceOf([alice]), token.read.allowance([alice, bob]),
  ])
  assert.deepEqual([name, symbol, decimals, supply, allowance], ['Harbour Coin', 'HBRC', 2, 100_000_000n, 50_000n])
  assert.ok(balance > 0n && balance < 97_000_000n, `Alice has ${balance}`)
})

test('read an ERC-20 contract at historical blocks', async () => {
  const read = (functionName, args, blockNumber) => client.readContract({ address: coin, abi: erc20Abi, functionName, args, blockNumber })
  assert.equal(await read('balanceOf', [alice], born), 100_000_000n)
  assert.equal(await read('allowance', [alice, bob], born), 0n)
  await assert.rejects(read('totalSupply', [], born - 1n), { name: 'ContractFunctionExecutionError', message: /returned no data/ })
})

test('read ledger tokens as ERC-20 and ERC-721', async () => {
  const token = getContract({ address: at(2001), abi: erc20Abi, client })
  assert.deepEqual(await Promise.all([token.read.name(), token.read.symbol(), token.read.decimals()]), ['Sunlight', 'SUN', 6])
  const { balances } = await get('/tokens/0.0.2001/balances?account.id=0.0.1001')
  const known = (await get('/accounts/0.0.1001/tokens?token.id=0.0.2001')).tokens[0].balance
  assert.ok(balances)
  assert.equal(await token.read.balanceOf([alice]), BigInt(known))
  const lights = getContract({ address: at(2007), abi: erc721Abi, client })
  assert.equal(await lights.read.tokenURI([1n]), 'ipfs://lighthouses/East Mole.json')
  const owner = (await get('/tokens/0.0.2007/nfts/1')).account_id
  assert.equal((await lights.read.ownerOf([1n])).toLowerCase(), (await get(`/accounts/${owner}`)).evm_address)
})

test('simulate and estimate a transfer', async () => {
  const transfer = { address: coin, abi: erc20Abi, functionName: 'transfer', args: [bob, 5n], account: alice }
  const { result } = await client.simulateContract(transfer)
  assert.equal(result, true)
  const gas = await client.estimateContractGas(transfer)
  assert.ok(gas > 21_000n && gas < 100_000n, `estimated ${gas}`)
  assert.equal((await client.simulateContract({ ...transfer, gas })).result, true)
  await assert.rejects(client.simulateContract({ ...transfer, gas: 22_000n }))
})

test('decode errors', async () => {
  const why = async (contract, address, functionName, args, account) => {
    try {
      await client.simulateContract({ address, abi: contracts[contract].abi, functionName, args, account })
    } catch (e) {
      assert.ok(e instanceof BaseError)
      const reverted = e.walk((cause) => cause instanceof ContractFunctionRevertedError)
      return { name: reverted?.data?.errorName, args: reverted?.data?.args, reason: reverted?.reason }
    }
    assert.fail('the call succeeded')
  }
  const breakwater = at(3022)
  assert.deepEqual(await why('Breakwater', breakwater, 'withArguments', [77n]), { name: 'TooHigh', args: [10n, 77n], reason: undefined })
  assert.deepEqual(await why('Breakwater', breakwater, 'withLists', []), { name: 'Damaged', args: ['head', '0xc0ffee', [7n, 9n]], reason: undefined })
  assert.equal((await why('Breakwater', breakwater, 'withText', ['swell'])).reason, 'swell')
  assert.match((await why('Breakwater', breakwater, 'divides', [1n, 0n])).reason, /divided by zero|[Dd]ivision|zero/)
  const short = await why('HarbourCoin', coin, 'transfer', [bob, 10n ** 12n], alice)
  assert.equal(short.name, 'InsufficientBalance')
  assert.equal(short.args[2], 10n ** 12n)
})

test('read code, storage and balances', async () => {
  assert.equal(await client.getCode({ address: at(3023) }), `0x${contracts.Furnace.runtimeBytecode}`)
  const stored = await client.getStorageAt({ address: at(3023), slot: '0x0' })
  assert.equal(BigInt(stored), await client.readContract({ address: at(3023), abi: contracts.Furnace.abi, functionName: 'heat' }))
  assert.ok((await client.getBalance({ address: alice })) > 0n)
  assert.ok((await client.getBlockNumber()) > born)
  assert.equal(await client.getChainId(), 0x128)
  assert.notEqual(alice, none)
})
