import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { layers } from './layers.ts'
import { folderOf } from './source-tree.ts'

/** Layers whose packages run, or are run by, processes. */
const processLayers = ['simulator', 'shells', 'harness', 'apps']
/** Packages of other layers that only a process needs. */
const processPackages = ['metrics', 'queue', 'queue-bullmq']
const serverLibrary = /^(?:@?fastify(?:\/.+)?|bullmq|ioredis|prom-client)$/

const inLayers = layers.filter(({ name }) => processLayers.includes(name)).flatMap(({ packages }) => packages)
const ofProcesses = new Set([...inLayers, ...processPackages].map((name) => `@tranche/${name}`))

describe('the commands for people', () => {
  it('depend on no process and no library of servers, not through a package either', () => {
    const forbidden = chainsFrom('@tranche/cli').filter((chain) => isOfServers(chain.at(-1) ?? ''))
    expect(forbidden.map((chain) => chain.join(' → '))).toEqual([])
  })

  it('are in the program tranche, which depends on all of them', () => {
    const reached = new Set(chainsFrom('@tranche/launcher').flat())
    const needed = [
      '@tranche/cli',
      '@tranche/controller',
      '@tranche/executor',
      '@tranche/api',
      'bullmq',
      'ioredis',
      'fastify',
      'prom-client',
    ]
    expect(needed.filter((name) => !reached.has(name))).toEqual([])
  })
})

function isOfServers(dependency: string): boolean {
  return ofProcesses.has(dependency) || serverLibrary.test(dependency)
}

/** @returns each package that `start` depends on, once, as the shortest chain of packages that leads to it */
function chainsFrom(start: string): readonly (readonly string[])[] {
  const seen = new Set([start])
  const chains: (readonly string[])[] = [[start]]
  for (const chain of chains) {
    const fresh = dependenciesOf(chain.at(-1) ?? '').filter((name) => !seen.has(name))
    for (const name of fresh) {
      seen.add(name)
      chains.push([...chain, name])
    }
  }
  return chains.slice(1)
}

/** @returns names in the manifest of a package of this workspace; none for a library */
function dependenciesOf(name: string): readonly string[] {
  if (!name.startsWith('@tranche/')) return []
  const manifest = JSON.parse(readFileSync(`${folderOf(name.slice('@tranche/'.length))}/package.json`, 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>
  }
  return Object.keys(manifest.dependencies ?? {})
}
