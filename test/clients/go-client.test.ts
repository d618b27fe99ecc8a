import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from './cluster.ts'
import { isInstalled, runProgram } from './run-program.ts'

const source = fileURLToPath(new URL('../go-client', import.meta.url))
const folder = fileURLToPath(new URL('../../node_modules/.cache/go-client', import.meta.url))
const program = `${folder}/go-client`

const missing = await buildClient()
if (missing !== undefined) {
  if (process.env['CI'] !== undefined) throw new Error(`${missing}; under CI no suite is skipped`)
  console.log(`skipped: the suite with client-go, because ${missing}`)
}

describe.skipIf(missing !== undefined)('a program written with client-go', () => {
  let cluster: Cluster

  beforeAll(async () => {
    cluster = await startCluster(0)
    let broken = false
    cluster.simulator.server.useFaults({
      onEvent({ object }) {
        if (broken || object.metadata.name !== 'breaks-watches') return undefined
        broken = true
        return { kind: 'gap' }
      },
    })
  })

  afterAll(() => cluster.end())

  it('uses every API that controllers need', async () => {
    const { code, stdout } = await runProgram(program, [], { env: { KUBECONFIG: cluster.kubeconfig } })
    expect(stdout.trimEnd().split('\n')).toEqual([
      'ok: discovery finds DaemonSets in one document',
      'ok: an informer streams its list and follows changes',
      'ok: an informer finds everything again after 410',
      'ok: a list in pages is complete',
      'ok: three kinds of patch apply',
      'ok: an object changed meanwhile is a conflict',
      'ok: a Lease changes hands, and a candidate who read too early is refused',
      'ok: an eviction waits for the disruption budget',
    ])
    expect(code).toBe(0)
  })
})

/** @returns why the program is unavailable, or undefined once it is built; the first build takes a minute or two, later ones a second */
async function buildClient(): Promise<string | undefined> {
  if (!(await isInstalled('go', ['version']))) return 'go is not installed'
  mkdirSync(folder, { recursive: true })
  const env = { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly -buildvcs=false', GOWORK: 'off' }
  const { code, stderr } = await runProgram('go', ['build', '-o', program, '.'], { cwd: source, env })
  if (code === 0) return undefined
  if (/dial tcp|no such host|module lookup disabled|i\/o timeout/.test(stderr)) return 'the modules of the program cannot be downloaded'
  if (/requires go >=/.test(stderr)) return 'go is too old'
  throw new Error(`test/go-client does not build: ${stderr}`)
}
