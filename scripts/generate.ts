/**
 * Writes the generated files that are checked in:
 *
 * - the CustomResourceDefinitions and the OpenAPI description;
 * - the lists in docs/contribute/evidence.md, and the tables in docs/reference/validation.md, docs/operations/metrics.md, events.md and
 *   security.md;
 * - the diagrams in docs/reference/release-phases.md;
 * - the texts of docs/reference/error-codes.md for the REST API;
 * - the generated pages of docs/reference, and the status of a ReleasePolicy in docs/reference/policy.md;
 * - docs/benchmarks.md and its pictures, from the raw data of `pnpm bench report`;
 * - the ConfigMap with the scripts for Argo CD, and the README and generated files of the chart.
 *
 * `node scripts/generate.ts` writes; `node scripts/generate.ts --check` exits with 1 if a file differs.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { describeApi } from '../apps/api/src/index.ts'
import {
  admissionPolicies,
  admissionWebhooks,
  definitionsPolicy,
  helperPodsPolicy,
  podPolicy,
} from '../packages/core/admission/src/index.ts'
import { customResourceDefinitions } from '../packages/words/api-schema/src/index.ts'
import { argoConfigMap } from './argo-cd.ts'
import { pictureFolder, writtenBenchmarks, writtenPictures } from './bench/report/page.ts'
import { chartRules, processRules, scopedRoles } from './chart-rules.ts'
import { writtenErrorHelp } from './error-help.ts'
import { writtenEvents } from './events-page.ts'
import { writtenPage } from './guarantees.ts'
import { writtenMetrics } from './metrics-page.ts'
import { writtenChartReadme } from './reference/chart-readme.ts'
import { writtenPolicyStatus } from './reference/custom-resources.ts'
import { MADE } from './reference/markdown.ts'
import { referenceFolder, writtenReference } from './reference/pages.ts'
import { writtenDiagrams } from './state-diagrams.ts'
import { writtenSecurity } from './security-page.ts'
import { writtenRules } from './validation-rules.ts'

const check = process.argv.includes('--check')
const problems: string[] = []

align('packages/words/api-schema/crds', crdFiles())
align('charts/tranche/files/crds', crdFiles())
write(
  'charts/tranche/files/rules.yaml',
  `# Made by \`pnpm generate\` from docs/operations/permissions.md; changes belong there.\n${yaml({ ...chartRules(), Scoped: scopedRoles() })}`,
)
write(
  'charts/tranche/files/admission-policies.yaml',
  `# Made by \`pnpm generate\` from packages/core/admission/src/policies; changes belong there.\n${yaml({ policies: admissionPolicies })}`,
)
write(
  'charts/tranche/files/pod-policy.yaml',
  `# Made by \`pnpm generate\` from packages/core/admission/src/policies; changes belong there.\n${yaml({ policies: podPolicy })}`,
)
write(
  'charts/tranche/files/definitions-policy.yaml',
  `# Made by \`pnpm generate\` from packages/core/admission/src/policies; changes belong there.\n${yaml({ policies: definitionsPolicy })}`,
)
write(
  'charts/tranche/files/helper-pods-policy.yaml',
  `# Made by \`pnpm generate\` from packages/core/admission/src/policies; changes belong there.\n${yaml({ policies: helperPodsPolicy })}`,
)
write(
  'charts/tranche/files/admission-webhooks.yaml',
  `# Made by \`pnpm generate\` from packages/core/admission/src/webhooks; changes belong there.\n${yaml(webhooksByKind())}`,
)
write(
  'charts/tranche/files/defaults.yaml',
  `# Made by \`pnpm generate\` from charts/tranche/values.yaml, which templates cannot read; changes belong there.\n${yaml(parse(readFileSync('charts/tranche/values.yaml', 'utf8')))}`,
)
write('packages/clients/doctor/src/signs/process-rules.generated.json', `${JSON.stringify(processRules(), null, 2)}\n`)
const guarantees = writtenPage()
write(guarantees.path, guarantees.text)
const rules = writtenRules()
write(rules.path, rules.text)
const configMap = argoConfigMap()
write(configMap.path, configMap.text)
const metrics = writtenMetrics()
write(metrics.path, metrics.text)
const errorHelp = writtenErrorHelp()
write(errorHelp.path, errorHelp.text)
const events = writtenEvents()
write(events.path, events.text)
const diagrams = writtenDiagrams()
write(diagrams.path, diagrams.text)
const security = writtenSecurity()
write(security.path, security.text)
const policy = writtenPolicyStatus()
write(policy.path, policy.text)
const readme = writtenChartReadme()
write(readme.path, readme.text)
const benchmarks = writtenBenchmarks()
write(benchmarks.path, benchmarks.text)
align(pictureFolder, writtenPictures())
align(referenceFolder, await writtenReference(), isGenerated)
write('apps/api/openapi.json', `${JSON.stringify(await describeApi(), null, 2)}\n`)

for (const problem of problems) console.error(`${problem}; run pnpm generate`)
process.exitCode = problems.length > 0 ? 1 : 0

function crdFiles(): ReadonlyMap<string, string> {
  const head = '# Made by `pnpm generate` from packages/words/api-schema/src; changes belong there.\n'
  return new Map(customResourceDefinitions.map((crd) => [`${crd.metadata.name}.yaml`, head + yaml(crd)]))
}

/** Rules with their paths, without the locations at which they are reached. */
function webhooksByKind(): object {
  const of = (kind: string) =>
    admissionWebhooks.filter((one) => one.kind === kind).map(({ name, webhook }) => ({ path: `/${name}`, webhook }))
  return { Mutating: of('Mutating'), Validating: of('Validating') }
}

function yaml(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 })
}

/** Makes `folder` contain exactly `files`, beside those that are not generated, or reports the differences. */
function align(folder: string, files: ReadonlyMap<string, string>, isOurs: (path: string) => boolean = () => true): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) if (!files.has(name) && isOurs(`${folder}/${name}`)) remove(`${folder}/${name}`)
  for (const [name, text] of files) write(`${folder}/${name}`, text)
}

function isGenerated(path: string): boolean {
  return readFileSync(path, 'utf8').includes(MADE)
}

function remove(file: string): void {
  if (check) problems.push(`${file}: is not generated any more`)
  else rmSync(file)
}

function write(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  if (check) problems.push(`${file}: differs from its source`)
  else writeFileSync(file, text)
}
