// Builds all programs as one self-contained npm package: `node scripts/bundle-cli.ts [FOLDER]`, then `npm pack FOLDER`.
// The image contains the same folder.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { billOfMaterials, mergeBillsOfMaterials, withoutMissingTools } from './bill-of-materials.ts'
import { customResourceDefinitions } from '../packages/words/api-schema/src/index.ts'
import { bundledLicenses } from './bundle-licenses.ts'
import { buildDashboard } from './dashboard/build.ts'

const folder = resolve(process.argv[2] ?? 'apps/launcher/dist')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

const bundle = await rolldown({
  // Worker threads are started by file name.
  input: {
    main: 'apps/launcher/src/main.ts',
    'judge-worker': 'apps/controller/src/judging/judge-worker.ts',
    'plan-worker': 'apps/api/src/plan/plan-worker.ts',
    'validate-worker': 'apps/api/src/checks/validate-worker.ts',
  },
  platform: 'node',
  plugins: [loadedLate(), madeSchemas(), partOfHttp(), billOfMaterials()],
  logLevel: 'warn',
  onLog: withoutMissingTools,
  // Libraries that read files beside their code find those of this package.
  transform: { define: { __dirname: 'import.meta.dirname' } },
  // Our packages do nothing when they are loaded but build values; schemas that a command does not need are not built for it. Of
  // Kubernetes' client we want what reads kubeconfigs, and none of its hundreds of models.
  treeshake: {
    moduleSideEffects: (id) => !/\/packages\/[^/]+\/[^/]+\/src\/|\/apps\/cli\/src\/|\/@kubernetes\/client-node\//.test(id),
    manualPureFunctions: ['z'],
  },
})
const keepNames = { class: true, function: false }
const { output } = await bundle.write({
  dir: join(folder, 'lib'),
  format: 'esm',
  entryFileNames: '[name].mjs',
  chunkFileNames: '[name]-[hash].mjs',
  // Errors are logged with their class names.
  minify: { compress: { keepNames }, mangle: { keepNames } },
  comments: { legal: true },
})
await bundle.close()
const page = await buildDashboard(join(folder, 'dashboard'), { plugins: [billOfMaterials() as never], onLog: withoutMissingTools })

escapeTexts()
keepBillOfMaterials()
copyDocumentationPage()
writeBins()
writeManifest()
for (const file of ['LICENSE', 'README.md']) copyFileSync(file, join(folder, file))
writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), bundledLicenses(filesOfLibraries()))
const bytes = output.reduce((sum, file) => sum + (file.type === 'chunk' ? file.code.length : file.source.length), page.bytes)
console.log(`${folder}: ${output.length + page.files} files, ${(bytes / 1e6).toFixed(1)} MB`)

/**
 * Loads libraries on their first call. That of expressions takes longer to load than most commands take to run, and those that measure text are
 * needed for wide characters only. Code in every command calls them synchronously.
 */
function loadedLate(): Plugin {
  const wrapAnsi = ["import wrapAnsi from 'wrap-ansi'", "const wrapAnsi = (...args) => require('wrap-ansi').default(...args)"] as const
  const late: Readonly<Record<string, readonly [from: string, to: string]>> = {
    'packages/core/validation/src/policy/condition.ts': [
      "import { type CelEnvironment, type CelType, type Compiled, createCelEnvironment } from '@tranche/cel'",
      "const createCelEnvironment = (types) => require('@tranche/cel').createCelEnvironment(types)",
    ],
    'apps/cli/src/view/styled-line.ts': [
      "import sliceAnsi from 'slice-ansi'\nimport stringWidth from 'string-width'",
      "const sliceAnsi = (...args) => require('slice-ansi').default(...args)\nconst stringWidth = (text) => require('string-width').default(text)",
    ],
    'apps/cli/src/view/wrap-text.ts': wrapAnsi,
    'apps/cli/src/output/say-lines.ts': wrapAnsi,
    'packages/core/validation/src/policy/query.ts': [
      "import { parser } from '@prometheus-io/lezer-promql'",
      "const parser = { parse: (query) => require('@prometheus-io/lezer-promql').parser.parse(query) }",
    ],
  }
  return {
    name: 'loaded-late',
    transform(code, id) {
      const change = Object.entries(late).find(([path]) => id.endsWith(path))?.[1]
      if (change === undefined) return null
      if (!code.includes(change[0])) throw new Error(`${id}: no import of this wording: ${change[0]}`)
      return code.replace(...change)
    },
  }
}

/** Puts the schemas of our resources into the bundle. Each command that reads a Rollout would make them again, in 25 ms. */
function madeSchemas(): Plugin {
  const made = customResourceDefinitions.map(({ spec }) => [spec.names.kind, JSON.stringify(spec.versions[0]!.schema.openAPIV3Schema)])
  const call = 'rootSchema(definition)'
  return {
    name: 'made-schemas',
    transform(code, id) {
      if (!id.endsWith('packages/words/api-schema/src/crd.ts')) return null
      if (!code.includes(`??= ${call}`)) throw new Error(`${id}: no call of this wording: ${call}`)
      return code.replace(`??= ${call}`, () => `??= JSON.parse(${JSON.stringify(Object.fromEntries(made))}[definition.kind])`)
    },
  }
}

/**
 * Gives libraries the members of `node:http` that they use. An import reads every member, which loads a second copy of undici for its
 * WebSocket.
 */
function partOfHttp(): Plugin {
  const part = '\0part-of-http.cjs'
  return {
    name: 'part-of-http',
    resolveId: (id) => (id === 'http' || id === 'node:http' ? part : null),
    load: (id) => (id === part ? "module.exports = process.getBuiltinModule('node:http')" : null),
  }
}

/**
 * Escapes characters beyond Latin-1. With a single one of them, Node.js keeps the source text with two bytes per character, which doubles
 * its memory.
 */
function escapeTexts(): void {
  for (const file of output) {
    if (file.type !== 'chunk') continue
    // Escapes would change the text of a raw template.
    if (/String\.raw`[^`]*[^\0-\x7f]/.test(file.code)) throw new Error(`${file.fileName}: a raw template that is not ASCII`)
    const code = file.code.replaceAll(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    writeFileSync(join(folder, 'lib', file.fileName), code)
  }
}

/** Writes one bill of materials, of the programs and the page, beside the package's manifest, where users look. */
function keepBillOfMaterials(): void {
  const [programs, ofPage] = ['lib', 'dashboard'].map((part) => JSON.parse(readFileSync(join(folder, part, 'cyclonedx/bom.json'), 'utf8')))
  writeFileSync(join(folder, 'sbom.cdx.json'), JSON.stringify(mergeBillsOfMaterials(programs, ofPage)))
  for (const part of ['lib', 'dashboard']) rmSync(join(folder, part, 'cyclonedx'), { recursive: true })
}

/** Copies the files that the REST API serves under `/docs` to where the library reads them. */
function copyDocumentationPage(): void {
  const library = documentationPage()
  // The page loads its bundle, never the library without its dependencies.
  cpSync(join(library, 'static'), join(folder, 'static'), { recursive: true, filter: (file) => basename(file) !== 'swagger-ui.js' })
  copyFileSync(join(library, 'LICENSE'), join(folder, 'static/LICENSE'))
  mkdirSync(join(folder, 'lib/static'))
  copyFileSync(join(library, 'static/logo.svg'), join(folder, 'lib/static/logo.svg'))
}

function documentationPage(): string {
  return dirname(createRequire(resolve('apps/api/package.json')).resolve('@fastify/swagger-ui'))
}

/** Modules in the bundle, and files copied beside it. */
function filesOfLibraries(): readonly string[] {
  const bundled = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  return [...bundled, ...page.modules, join(documentationPage(), 'static/index.html')]
}

/** Writes the same start scripts as in the checkout, for the bundled code. */
function writeBins(): void {
  mkdirSync(join(folder, 'bin'))
  for (const name of ['tranche.mjs', 'compile-cache.mjs', 'kubectl_complete-tranche.mjs']) {
    const path = join(folder, 'bin', name)
    writeFileSync(path, readFileSync(join('apps/launcher/bin', name), 'utf8').replace("'../src/main.ts'", "'../lib/main.mjs'"))
    chmodSync(path, 0o755)
  }
}

function writeManifest(): void {
  const { version, description, license } = JSON.parse(readFileSync('apps/launcher/package.json', 'utf8')) as Record<string, string>
  const manifest = {
    name: 'tranche',
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=24' },
    bin: {
      tranche: 'bin/tranche.mjs',
      'kubectl-tranche': 'bin/tranche.mjs',
      'kubectl_complete-tranche': 'bin/kubectl_complete-tranche.mjs',
    },
    files: ['bin', 'dashboard', 'lib', 'static', 'sbom.cdx.json', 'THIRD-PARTY-LICENSES'],
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
