import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { runProgram } from '../clients/run-program.ts'
import { chart, programs, render } from './chart.ts'

const file = parse(readFileSync(`${chart}/Chart.yaml`, 'utf8')) as ChartFile
const annotations = Object.fromEntries(
  Object.entries(file.annotations).map(([name, value]) => [name.replace('artifacthub.io/', ''), value]),
)

/** Formats that Artifact Hub documents for the annotations of a chart. Every value is a string, some of them YAML. */
const formats = z.strictObject({
  category: z.enum([
    'ai-machine-learning',
    'database',
    'integration-delivery',
    'monitoring-logging',
    'networking',
    'security',
    'storage',
    'streaming-messaging',
  ]),
  license: z.literal('Apache-2.0'),
  operator: z.enum(['true', 'false']),
  prerelease: z.enum(['true', 'false']),
  containsSecurityUpdates: z.enum(['true', 'false']),
  images: inYaml(
    z.strictObject({
      name: z.string().min(1),
      image: z.string().regex(/^[^\s:]+(:[^\s:]+)?:(?!latest$)[\w.-]+$/),
      whitelisted: z.boolean().optional(),
      platforms: z.array(z.string().regex(/^linux\/(amd64|arm64)$/)).optional(),
    }),
  ),
  changes: inYaml(
    z.strictObject({
      kind: z.enum(['added', 'changed', 'deprecated', 'removed', 'fixed', 'security']),
      description: z.string().min(1),
      links: z.array(z.strictObject({ name: z.string(), url: z.url() })).optional(),
    }),
  ),
  crds: inYaml(
    z.strictObject({
      kind: z.string(),
      version: z.string(),
      name: z.string(),
      displayName: z.string().min(1),
      description: z.string().min(1),
    }),
  ),
  crdsExamples: inYaml(z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata: z.looseObject({ name: z.string() }) })),
})

describe('Chart.yaml for Artifact Hub', () => {
  const parsed = formats.parse(annotations)

  it('has only annotations that Artifact Hub documents, each in its format', () => {
    expect(formats.safeParse({ ...annotations, operator: true }).success).toBe(false)
    expect(formats.safeParse({ ...annotations, changes: '- kind: new\n  description: a' }).success).toBe(false)
    expect(Object.keys(parsed).toSorted()).toEqual(Object.keys(annotations).toSorted())
  })

  it('is a pre-release exactly if its version is one', () => {
    expect(parsed.prerelease).toBe(String(file.version.includes('-')))
  })

  it('lists every CustomResourceDefinition of the chart', () => {
    const definitions = readdirSync(`${chart}/files/crds`).map(
      (name) => parse(readFileSync(`${chart}/files/crds/${name}`, 'utf8')) as Definition,
    )
    const known = definitions.map(({ metadata, spec }) => [metadata.name, spec.names.kind, spec.versions[0]?.name])
    expect(parsed.crds.map(({ name, kind, version }) => [name, kind, version]).toSorted()).toEqual(known.toSorted())
  })

  it('names the icon of the dashboard, as data', () => {
    const [head, data = ''] = file.icon.split(',')
    expect(head).toBe('data:image/svg+xml;base64')
    expect(Buffer.from(data, 'base64').toString()).toBe(readFileSync('apps/dashboard/src/brand/icon.svg', 'utf8'))
  })

  it('names a home and sources exactly if package.json names a repository', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly repository?: { readonly url: string } }
    const home = manifest.repository?.url.replace(/^git\+|\.git$/g, '')
    expect([file.home, file.sources]).toEqual([home, home === undefined ? undefined : [home]])
    expect(file.maintainers).toEqual([{ name: 'Tranche maintainers' }])
  })

  it('has examples without a finding of tranche lint', async () => {
    const input = parsed.crdsExamples.map((one) => stringify(one)).join('---\n')
    const args = ['apps/launcher/bin/tranche.mjs', 'lint', '-f', '-', '--output', 'json']
    const { stdout } = await runProgram(process.execPath, args, { input })
    const findings = JSON.parse(stdout) as readonly { readonly level: string; readonly rule?: string }[]
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([])
  })

  it.skipIf(programs === null)('lists the image of the pods, which no scanner can pull', async () => {
    const images = (await render({})).flatMap((one) => JSON.stringify(one).match(/(?<="image":")[^"]+/g) ?? [])
    expect(parsed.images.map(({ image }) => image)).toEqual([...new Set(images)])
    expect(parsed.images).toEqual([expect.objectContaining({ whitelisted: true })])
  })
})

interface ChartFile {
  readonly version: string
  readonly icon: string
  readonly home?: string
  readonly sources?: readonly string[]
  readonly maintainers: readonly unknown[]
  readonly annotations: Readonly<Record<string, string>>
}

interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly names: { readonly kind: string }; readonly versions: readonly { readonly name: string }[] }
}

/** A string with a list in YAML. */
function inYaml<T extends z.ZodType>(item: T) {
  return z
    .string()
    .transform((text): unknown => parse(text))
    .pipe(z.array(item).min(1))
}
