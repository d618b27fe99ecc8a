/**
 * Switches off the code generation of Zod, which reads this object when it is loaded: the content security policy of the page forbids `eval`,
 * and browsers report each attempt. Import it before any schema.
 */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })

export {}
