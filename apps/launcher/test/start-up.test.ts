import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

/** Prints the URL of each loaded module. */
const printModules =
  'data:text/javascript,import{registerHooks}from"node:module";registerHooks({load(url,context,next){console.error(url);return next(url,context)}})'

it('the help loads no client of a cluster or of the REST API, which would make every command slower', () => {
  const { status, stderr } = spawnSync(process.execPath, ['--import', printModules, 'apps/launcher/bin/tranche.mjs', '--help'], {
    encoding: 'utf8',
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
  })
  const modules = stderr.split('\n').filter((line) => line.startsWith('file:'))
  expect([status, modules.some((url) => url.endsWith('/command-line/launch.ts'))]).toEqual([0, true])
  expect(
    modules.filter((url) =>
      /\/packages\/(?:adapters|clients|simulator|shells|harness)\/|\/node_modules\/(?:zod|undici|fastify)\//.test(url),
    ),
  ).toEqual([])
})
