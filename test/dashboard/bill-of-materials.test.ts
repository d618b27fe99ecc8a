import { expect, it } from 'vitest'
import { mergeBillsOfMaterials } from '../../scripts/bill-of-materials.ts'

it('the bill of materials of the bundle lists the packages of programs and page, each once', () => {
  const programs = {
    metadata: { component: { 'bom-ref': 'tranche' } },
    components: [{ 'bom-ref': 'zod' }, { 'bom-ref': 'fastify' }],
    dependencies: [{ ref: 'tranche' }, { ref: 'zod' }, { ref: 'fastify', dependsOn: ['zod'] }],
  }
  const page = {
    metadata: { component: { 'bom-ref': 'dashboard' } },
    components: [{ 'bom-ref': 'react-dom' }, { 'bom-ref': 'react' }, { 'bom-ref': 'zod' }],
    dependencies: [
      { ref: 'dashboard', dependsOn: ['react'] },
      { ref: 'react-dom', dependsOn: ['react'] },
      { ref: 'react' },
      { ref: 'zod' },
    ],
  }
  expect(mergeBillsOfMaterials(programs, page)).toEqual({
    metadata: programs.metadata,
    components: ['zod', 'fastify', 'react-dom', 'react'].map((ref) => ({ 'bom-ref': ref })),
    dependencies: [
      { ref: 'tranche' },
      { ref: 'zod' },
      { ref: 'fastify', dependsOn: ['zod'] },
      { ref: 'react-dom', dependsOn: ['react'] },
      { ref: 'react' },
    ],
  })
})
