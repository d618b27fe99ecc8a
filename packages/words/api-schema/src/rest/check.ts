import { z } from 'zod'
import type { Frozen } from '../fields.ts'

/** Manifests to check, in a JSON body. A YAML body can be sent directly instead. */
export const validateRequestSchema = z
  .strictObject({ manifests: z.string().meta({ description: 'YAML or JSON documents, as for `kubectl apply -f`.' }) })
  .meta({ id: 'ValidateRequest' })

const findingSchema = z.object({
  document: z.int().min(1).meta({ description: 'Number of the document, from 1. Empty documents do not count.' }),
  object: z.string().meta({ description: '`Kind/name` of the document, as far as they are set.' }),
  rule: z.string().meta({ description: 'Code of the rule.' }),
  path: z.string(),
  value: z.unknown().optional().meta({ description: 'Offending value. Absent if the field is missing.' }),
  message: z.string(),
  fix: z.string().meta({ description: 'What to write instead.' }),
})
/** @see validateAnswerSchema */
export type ManifestFinding = Frozen<z.infer<typeof findingSchema>>

/** Findings about manifests: problems and advice. */
export const validateAnswerSchema = z
  .object({
    valid: z.boolean().meta({ description: 'True if there are no problems. Advice does not count.' }),
    problems: z.array(findingSchema),
    advice: z.array(findingSchema),
  })
  .meta({ id: 'ValidateAnswer' })
/** @see validateAnswerSchema */
export type ValidateAnswer = Frozen<z.infer<typeof validateAnswerSchema>>

/** Ways to log in that this server has. */
export const loginMethodsSchema = z
  .object({
    methods: z.array(z.enum(['token', 'openIdConnect', 'link'])).meta({
      description:
        '`token`: a bearer token of the cluster. `openIdConnect`: `/login` redirects to the OpenID provider. `link`: a link with a one-time code that `tranche dev` or `tranche dashboard` prints.',
    }),
  })
  .meta({ id: 'LoginMethods' })
/** @see loginMethodsSchema */
export type LoginMethods = Frozen<z.infer<typeof loginMethodsSchema>>
/** @see loginMethodsSchema */
export type LoginMethod = LoginMethods['methods'][number]

/** User that sends the request, as the API server identifies it. */
export const meSchema = z
  .object({
    username: z.string(),
    uid: z.string().optional(),
    groups: z.array(z.string()),
    csrfToken: z.string().optional().meta({ description: 'Only in a browser session: value to send as `X-CSRF-Token` with each write.' }),
  })
  .meta({ id: 'Me' })
/** @see meSchema */
export type Me = Frozen<z.infer<typeof meSchema>>
