import { answerOf } from './raw';

// What the API says of itself: /openapi.json, read once. Columns, filters and forms are made from it.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: (string | number | boolean | null)[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  description?: string;
  readOnly?: boolean;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
}

interface Media { content?: Record<string, { schema?: Schema }> }
interface Operation {
  operationId?: string;
  parameters?: { name?: string }[];
  requestBody?: Media;
  responses?: Record<string, Media>;
  'x-auth'?: string;
}
interface OpenAPI { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }

export type Kind = 'text' | 'id' | 'instant' | 'number' | 'boolean' | 'enum' | 'list' | 'json';

/** A field of a record or of a body. */
export interface Property {
  name: string;
  kind: Kind;
  values: string[]; // of an enum
  required: boolean;
  nullable: boolean;
  readOnly: boolean;
  schema: Schema;
}

let loaded: Promise<OpenAPI> | undefined;

function load(): Promise<OpenAPI> {
  loaded ??= answerOf<OpenAPI>('/api/v1/openapi.json').catch((cause: unknown) => {
    loaded = undefined;
    throw cause;
  });
  return loaded;
}

function resolved(doc: OpenAPI, schema: Schema | undefined): Schema {
  if (!schema) return {};
  if (schema.$ref) return resolved(doc, doc.components.schemas[schema.$ref.split('/').pop() ?? '']);
  const whole = schema.allOf ?? (schema.anyOf ?? schema.oneOf)?.filter((one) => one.type !== 'null');
  return whole?.length === 1 ? resolved(doc, whole[0]) : schema;
}

const json = (media: Media | undefined) => media?.content?.['application/json']?.schema;

function kindOf(schema: Schema): Kind {
  const types = [schema.type ?? []].flat();
  if (schema.enum) return 'enum';
  if (schema.format === 'date-time') return 'instant';
  if (types.includes('boolean')) return 'boolean';
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (types.includes('array')) return 'list';
  if (types.includes('string')) return schema.pattern?.includes('{24}') ? 'id' : 'text';
  return 'json';
}

/** The properties of an object's schema, in the document's order. */
function propertiesOf(doc: OpenAPI, schema: Schema): Property[] {
  const object = resolved(doc, schema);
  return Object.entries(object.properties ?? {}).map(([name, raw]) => {
    const own = resolved(doc, raw);
    return {
      name,
      kind: kindOf(own),
      values: (own.enum ?? []).filter((v) => v !== null).map(String),
      required: object.required?.includes(name) ?? false,
      nullable: [own.type ?? []].flat().includes('null'),
      readOnly: raw.readOnly ?? own.readOnly ?? false,
      schema: own,
    };
  });
}

/** The fields of the records that GET of a collection lists. */
export async function fieldsOfCollection(path: string): Promise<Property[]> {
  const doc = await load();
  const envelope = resolved(doc, json(doc.paths[path]?.['get']?.responses?.['200']));
  return propertiesOf(doc, resolved(doc, envelope.properties?.['docs']).items ?? {});
}

/** The fields that a method of a path takes; of an array, those of one of its objects. */
export async function fieldsOfBody(path: string, method: string): Promise<Property[]> {
  const doc = await load();
  const body = resolved(doc, json(doc.paths[path]?.[method.toLowerCase()]?.requestBody));
  return propertiesOf(doc, body.items ? resolved(doc, body.items) : body);
}

/** The paths of the lists that take a filter and a sort, below /api/v1, but for those of customers themselves. */
export async function staffLists(): Promise<string[]> {
  const doc = await load();
  return Object.entries(doc.paths).flatMap(([path, { get }]) => {
    const names = get?.parameters?.map(({ name }) => name) ?? [];
    const takes = names.includes('query') && names.includes('sort') && get?.['x-auth'] !== 'customer';
    return takes && !path.includes('{') ? [path.replace('/api/v1', '')] : [];
  }).sort();
}
