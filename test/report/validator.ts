import { Ajv2020 } from 'ajv/dist/2020.js';
import { jsonSchema } from '../../src/app/config/schema.ts';

/** Holds data to the schema that is published, with a validator that shares no line with the one that made it. */
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(jsonSchema('report'));

/** What is wrong with the content of a `report.json`; empty when nothing is. */
export const problemsOf = (report: unknown): readonly string[] =>
  validate(report)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`);
