/** Bills of materials (CycloneDX) of bundles, which list the packages in them: a scanner would not find those. */
import type { InputOptions } from 'rolldown'
import sbom from 'rollup-plugin-sbom'

/** Bill of materials in CycloneDX, as far as it matters here. */
export interface BillOfMaterials {
  readonly metadata?: { readonly component?: { readonly 'bom-ref'?: string } }
  readonly components?: readonly { readonly 'bom-ref'?: string }[]
  readonly dependencies?: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

/** @returns a plugin that writes `cyclonedx/bom.json` into the bundle */
export function billOfMaterials(): ReturnType<typeof sbom> {
  return sbom({ saveTimestamp: false, includeWellKnown: false })
}

/** Log handler that drops what the plugin says about bundlers that are not installed, which it looks for to list them as tools. */
export const withoutMissingTools: InputOptions['onLog'] & {} = (level, log, report) => {
  if (log.plugin !== 'rollup-plugin-sbom' || !/auto-registration of tool "(?:vite|rollup)"/.test(log.message)) report(level, log)
}

/** @returns the first bill with the components of the second added; a component of both is listed once */
export function mergeBillsOfMaterials(first: BillOfMaterials, second: BillOfMaterials): BillOfMaterials {
  const components = new Map([...(first.components ?? []), ...(second.components ?? [])].map((one) => [one['bom-ref'], one]))
  const ofSecond = second.metadata?.component?.['bom-ref']
  const dependencies = new Map<string, Set<string>>()
  for (const { ref, dependsOn = [] } of [...(first.dependencies ?? []), ...(second.dependencies ?? [])]) {
    if (ref === ofSecond && ref !== first.metadata?.component?.['bom-ref'] && !components.has(ref)) continue
    dependencies.set(ref, new Set([...(dependencies.get(ref) ?? []), ...dependsOn]))
  }
  return {
    ...first,
    components: [...components.values()],
    dependencies: [...dependencies].map(([ref, others]) => ({ ref, ...(others.size > 0 && { dependsOn: [...others] }) })),
  }
}
