import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildHostPlugins } from '../../scripts/host-plugins/build.ts'

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  await buildHostPlugins(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8')
}

/** Modules of React as far as a file uses them while it is loaded. */
const react = {
  createContext: () => ({ Provider: null }),
  Component: class {},
  lazy: () => null,
  memo: () => null,
  useSyncExternalStore: null,
}

const { useSyncExternalStore: _, ...older } = react

describe('the built plugins', () => {
  it('are one file for each host, beside the licenses of its libraries', () => {
    expect(globSync('*/tranche/*', { cwd: folder }).toSorted()).toEqual([
      'argo-cd/tranche/THIRD-PARTY-LICENSES',
      'argo-cd/tranche/extension-tranche.js',
      'headlamp/tranche/LICENSE',
      'headlamp/tranche/THIRD-PARTY-LICENSES',
      'headlamp/tranche/main.js',
      'headlamp/tranche/package.json',
    ])
  })

  it.each(['headlamp/tranche', 'argo-cd/tranche'])('contain no React and nothing of Node.js: %s', (plugin) => {
    const licenses = read(`${plugin}/THIRD-PARTY-LICENSES`)
    expect(licenses).toMatch(/^zod /m)
    expect(licenses).not.toMatch(/^(?:react|react-dom|scheduler|undici|@kubernetes\/client-node) /m)
  })

  it('register their parts in Headlamp, which runs the text of the file with its modules as a global', () => {
    const calls: string[] = []
    const called =
      (name: string) =>
      (part: { readonly path?: string; readonly url?: string }): void =>
        void calls.push(`${name} ${part.path ?? part.url ?? typeof part}`)
    const pluginLib = {
      ...{ React: react, ReactDOM: {}, ReactJSX: {} },
      registerRoute: called('route'),
      registerSidebarEntry: called('sidebar'),
      registerDetailsViewSection: called('section'),
      registerDetailsViewHeaderAction: called('header'),
    }
    runInContext(read('headlamp/tranche/main.js'), createContext({ pluginLib, ...globals }))
    expect(calls).toEqual([
      'sidebar /tranche',
      'sidebar /tranche',
      'sidebar /tranche/record',
      'route /tranche/record',
      'route /tranche',
      'header function',
      'section function',
    ])
    expect(JSON.parse(read('headlamp/tranche/package.json'))).toMatchObject({
      name: 'tranche',
      devDependencies: { '@kinvolk/headlamp-plugin': expect.stringMatching(/^\^0\.\d+\.0$/) as unknown },
    })
  })

  it.each([
    ['3.5, with React 19', { React: react, ReactDOM: {}, ReactJSXRuntime: {} }],
    ['3.4, with React 16 alone', { React: older }],
  ])('register a tab for Rollouts in Argo CD %s', (_version, modules) => {
    const tabs: unknown[][] = []
    const extensionsAPI = { registerResourceExtension: (...tab: unknown[]) => tabs.push(tab) }
    const context = createContext({ ...modules, extensionsAPI, ...globals })
    runInContext('globalThis.window = globalThis', context)
    runInContext(read('argo-cd/tranche/extension-tranche.js'), context)
    expect(tabs).toEqual([[expect.any(Function), 'rollouts.kruise.io', 'Rollout', 'Release', { icon: 'fa-layer-group' }]])
  })
})

/** Parts of a browser that the file uses while it is loaded. */
const globals = { TextEncoder, TextDecoder, URLSearchParams, URL, performance, crypto, console }
