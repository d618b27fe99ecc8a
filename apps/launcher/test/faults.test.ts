import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { simFaultKinds, simFaultsSchema } from '@tranche/api-schema'
import { findBreaches, readRecording } from '@tranche/recording'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runDemo } from './run-demo.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const example = 'examples/simulator/faults.yaml'
const page = readFileSync('docs/guides/simulator.md', 'utf8')

describe('tranche dev --faults', () => {
  it.each([1, 2, 3])('completes a release under the faults of the example, and prints them, seed %i (G1 to G4, G6)', async (seed) => {
    const record = join(folder, 'writes.ndjson')
    const { code, out, err } = await runDemo(`--nodes 12 --seed ${seed} -o json --faults ${example} --record ${record}`)
    expect([code, JSON.parse(out)]).toMatchObject([0, { phase: 'Healthy', updated: 12 }])
    expect(err).toContain('fault fault-1 begins: NodeDown: nodes node-003, for 90s\n')
    expect(err).toMatch(/^fault fault-5 is over: it met \d+ requests$/m)
    const writes = readRecording(readFileSync(record, 'utf8').split('\n'))
    const isOurs = (actor: string): boolean => actor === 'tranche-executor'
    expect(findBreaches(writes, { daemonSet: 'node-agent', isOurs, watchLagMs: 5_000 })).toEqual([])
  })

  it('is deterministic for a seed', async () => {
    const files = [join(folder, '1'), join(folder, '2')]
    for (const file of files) await runDemo(`--nodes 10 --seed 7 --faults ${example} --record ${file}`)
    const [first, second] = files.map((file) => readFileSync(file, 'utf8'))
    expect(first === second).toBe(true)
  })

  it('refuses an invalid file before anything runs, and names every problem', async () => {
    const file = join(folder, 'faults.yaml')
    writeFileSync(file, 'faults:\n- {kind: NodeDwn}\n- {kind: Delay, by: soon}\n')
    const { code, err } = await runDemo(`--nodes 3 --faults ${file}`)
    expect(code).toBe(1)
    expect(err).toMatch(
      /^FAULTS_INVALID: \S+faults\.yaml:\n {2}faults\[0\]\.kind does not take "NodeDwn": give one of [^\n]+\n {2}faults\[1\]\.by does not take "soon": /,
    )
  })

  it('refuses a file that names missing objects, and applies no part of it', async () => {
    const file = join(folder, 'faults.yaml')
    writeFileSync(file, 'faults:\n- {kind: NodeDown, nodes: [node-001]}\n- {kind: NodeDown, nodes: [node-777]}\n')
    const { code, err } = await runDemo(`--nodes 3 --faults ${file}`)
    expect([code, err]).toEqual([
      1,
      `FAULTS_INVALID: ${file}: faults[1].nodes[0] does not take "node-777": give a node that exists by then: node-001, node-002, node-003.\n`,
    ])
  })

  it('refuses a missing file in one line', async () => {
    const { code, err } = await runDemo('--nodes 3 --faults /does/not/exist')
    expect([code, err]).toEqual([1, expect.stringMatching(/^FAULTS_INVALID: \/does\/not\/exist cannot be read: [^\n]+\n$/)])
  })
})

describe('the page about the simulator', () => {
  it('has a row for every kind of fault, in the order of the schema', () => {
    const section = /^## Faults from outside\n([\s\S]*?)^### /m.exec(page)?.[1] ?? ''
    const rows = [...section.matchAll(/^\| `([A-Z]\w+)` \|/gm)].map(([, kind]) => kind)
    expect(rows).toEqual([...simFaultKinds])
  })

  it('shows valid documents', () => {
    const documents = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text]) => text ?? '')
    expect(documents.length).toBeGreaterThan(0)
    expect(documents.map((text) => simFaultsSchema.safeParse(parse(text)).error?.issues ?? [])).toEqual(documents.map(() => []))
  })
})

describe('tranche sim as a process', () => {
  let child: ChildProcess
  afterEach(() => child.kill('SIGKILL'))

  it('accepts faults on a separate port with a separate token; the commands of the page work', async () => {
    const readyFile = join(folder, 'ready.json')
    child = spawn(process.execPath, ['apps/launcher/bin/tranche.mjs', 'sim', '--nodes', '10', '--ready-file', readyFile], {
      stdio: 'ignore',
    })
    await expect.poll(() => existsSync(readyFile), { timeout: 20_000, interval: 20 }).toBe(true)
    const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as Ready
    expect(ready.faults.token).not.toBe(ready.token)
    expect(new URL(ready.faults.url).port).not.toBe(new URL(ready.apiServer).port)

    const answers = await commandsOf(page, ready.faults)
    expect(answers).toMatchObject([
      { faults: [{ id: 'away', state: 'active' }] },
      {
        faults: [
          { id: 'fault-1' },
          { id: 'fault-2' },
          { id: 'fault-3' },
          { id: 'fault-4' },
          { id: 'fault-5' },
          { id: 'fault-6' },
          { id: 'slow-watches' },
          { id: 'fault-7' },
          { id: 'fault-8' },
        ],
      },
      { faults: expect.arrayContaining([expect.objectContaining({ id: 'away', state: 'active' })]) as unknown },
      { id: 'away', state: 'lifted' },
      { faults: expect.any(Array) as unknown },
    ])

    expect(await nodesAs(ready, ready.token)).toBe(200)
    const body = JSON.stringify({ faults: [{ kind: 'Error', status: 503, actors: ['tester'], count: 1 }] })
    const headers = { authorization: `Bearer ${ready.faults.token}`, 'content-type': 'application/json' }
    expect((await fetch(ready.faults.url, { method: 'POST', headers, body })).status).toBe(201)
    expect([await nodesAs(ready, ready.token), await nodesAs(ready, ready.token)]).toEqual([503, 200])

    expect(await nodesAs(ready, ready.faults.token)).toBe(401)
    expect((await fetch(ready.faults.url, { headers: { authorization: `Bearer ${ready.token}` } })).status).toBe(401)
  })
})

interface Ready {
  readonly apiServer: string
  readonly caFile: string
  readonly token: string
  readonly faults: { readonly url: string; readonly token: string }
}

/** Runs the curl commands of a page, in order. @returns their answers */
async function commandsOf(text: string, { url, token }: Ready['faults']): Promise<readonly unknown[]> {
  const commands = [...text.matchAll(/^curl (?:.*\\\n)*.*/gm)].map(([command]) => command)
  const answers: unknown[] = []
  for (const command of commands) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, FAULTS: url, TOKEN: token } })
    answers.push(JSON.parse(stdout))
  }
  return answers
}

/** @returns the status of a list of nodes, asked for as the program `tester` */
function nodesAs({ apiServer, caFile }: Ready, token: string): Promise<number | undefined> {
  const options = { ca: readFileSync(caFile, 'utf8'), headers: { authorization: `Bearer ${token}`, 'user-agent': 'tester/1' } }
  return new Promise((resolve, reject) => {
    request(`${apiServer}/api/v1/nodes`, options, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}
