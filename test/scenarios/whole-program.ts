import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { vi } from 'vitest'

/** `tranche all-in-one` in its own process. */
export interface WholeProgram {
  /** URL of the REST API. */
  readonly url: string
  /** Sends SIGTERM. @returns exit code */
  stop(): Promise<number | null>
}

/** Starts controller, executor and REST API, and waits until all three are ready. */
export async function startWholeProgram(kubeconfig: string): Promise<WholeProgram> {
  const args = ['apps/launcher/bin/tranche.mjs', 'all-in-one', '--kubeconfig', kubeconfig, '--api-port=0', '--health-port=0']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  const said: string[] = []
  const served = new Map<string, string>()
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line)
    const { msg, program, url } = fieldsOf(line)
    if (url !== undefined) served.set(msg === 'started' ? program! : 'health', url.replace(/\/readyz$/, ''))
    if (served.has('health') && served.has('tranche-api')) break
  }
  child.stderr.resume()
  const [health, api] = [served.get('health'), served.get('tranche-api')]
  if (health === undefined || api === undefined) throw new Error(`it has ended: ${said.join('\n')}`)
  for (const url of [health, api])
    await vi.waitUntil(async () => (await fetch(`${url}/readyz`)).status === 200, { timeout: 60_000, interval: 100 })
  return {
    url: api,
    async stop() {
      child.kill('SIGTERM')
      const [code] = (await ended) as [number | null]
      return code
    },
  }
}

interface Fields {
  readonly msg?: string
  readonly program?: string
  readonly url?: string
}

function fieldsOf(line: string): Fields {
  return JSON.parse(line) as Fields
}
