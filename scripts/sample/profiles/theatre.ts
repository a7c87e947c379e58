import { type Category, names, NO_VENUE, type Profile, towns } from '../profile.ts';

const house = {
  name: 'Théâtre des Trois-Ponts',
  address: ["7 quai de l'Écluse", 'Entrée des artistes côté jardin', 'Nantes', '44000', 'FR'],
} as const;

const carreOr: Category = {
  name: 'Carré Or',
  description: '<p>Les meilleures places, face à la scène — <em>programme offert</em>.</p>',
  price: 4800,
  compareAtPrice: 5500,
  seating: { blocs: ['Orchestre pair', 'Orchestre impair'], rows: 12, seatsPerRow: 14, rowNames: 'letters' },
};

const first: Category = {
  name: 'Catégorie 1',
  description: '<p>Corbeille et premier balcon.</p>',
  price: 3600,
  seating: { blocs: ['Corbeille', 'Balcon'], rows: 9, seatsPerRow: 18, rowNames: 'letters' },
};

const second: Category = {
  name: 'Catégorie 2',
  price: 2250,
  seating: { blocs: ['Galerie'], rows: 15, seatsPerRow: 22, rowNames: 'letters' },
};

const form = {
  formId: 'form_jeune_public',
  fields: {
    age_enfant: ['4', '5', '6', '7', '8', '9', '10'],
    accessibilite: ['Aucun besoin', 'Fauteuil roulant', 'Boucle magnétique'],
    gouter: ['Crêpe', 'Pomme', 'Jus de raisin', 'Sans gluten'],
  },
  multiple: ['gouter'],
};

const terraces = { area: 'Gradins' };

/** A theatre company: numbered seats, a tour, free text left over from an older system. */
export const theatre: Profile = {
  organizationId: 'theatre-des-trois-ponts',
  name: 'Théâtre des Trois-Ponts',
  branches: ['Lyon', 'Besançon', 'Orléans', 'Angoulême', 'Saint-Étienne'],
  imageFolder: 'trois-ponts',
  zone: 'Europe/Paris',
  currency: { code: 'EUR', minorUnits: 100 },
  countryCode: 'FR',
  orderNumberPrefix: 'TTP-',
  invoicePrefix: 'FA-',
  taxRate: 0.055,
  priceStep: 50,
  serviceFeePerTicket: 120,
  rates: [
    { name: 'Plein tarif', percent: 100, resale: true },
    { name: 'Tarif réduit', percent: 70, resale: true },
    { name: 'Moins de 26 ans', percent: 50, resale: false },
    { name: 'Exonéré', percent: 0, resale: false },
  ],
  shopRate: 'Prix boutique',
  withTicketRate: 'Avec un billet',
  house,
  productions: [
    {
      title: 'Le Malade imaginaire',
      description:
        'Comédie-ballet de Molière, mise en scène par Éloïse Gaëtan. Durée : 2 h 10 avec entracte.',
      image: 'malade-imaginaire',
      tags: ['Théâtre', 'Molière', 'comédie'],
      schedule: { firstDay: -11, sessions: 12, weekdays: '23456', times: '20:30', minutes: 130 },
      popularity: 5,
      categories: [carreOr, first, second],
      extras: [
        {
          name: 'Rencontre avec la troupe',
          description: "<p>Au foyer, à l'issue de la représentation.</p>",
          pricings: [
            { name: 'Rencontre, Carré Or', price: 500 },
            { name: 'Rencontre, Catégorie 1', price: 900 },
          ],
        },
      ],
    },
    {
      title: "Nuit d'ouverture : œuvres choisies",
      venue: {
        name: "Salle des fêtes, 2 place de l'Hôtel-de-Ville, Rezé (entrée par la cour, sonner chez M. Le Goff)",
      },
      tags: ['Gala', '  Soirée   exceptionnelle ', 'théâtre'],
      schedule: { firstDay: -74, sessions: 1, weekdays: '6', times: '19:00', minutes: 240 },
      popularity: 2,
      categories: [
        { ...first, name: 'Parterre' },
        { name: 'Debout', price: 900, seating: terraces, form },
      ],
    },
    {
      title: 'Contes pour petits géants',
      description: 'Marionnettes et musique, à partir de 4 ans.',
      image: 'petits-geants',
      venue: {
        name: 'La Fabrique à Rêves',
        address: ['19 rue des Tanneurs', null, 'Saint-Nazaire', '44600', 'FR'],
      },
      tags: ['Jeune public', 'Marionnettes', 'MUSIQUE'],
      schedule: { firstDay: 23, sessions: 8, weekdays: '36', times: '10:30 15:00', minutes: 50 },
      popularity: 3,
      categories: [
        {
          name: 'Placement libre',
          description: '<p>Spectacle dès 4 ans. Placement libre, ouverture des portes 20 minutes avant.</p>',
          price: 1250,
          seating: terraces,
          form,
        },
      ],
      extras: [
        { name: 'Atelier marionnettes', pricings: [{ name: 'Atelier après le spectacle', price: 600 }] },
      ],
    },
    {
      title: "L'Île des esclaves — tournée",
      description: 'Marivaux, en tournée à La Réunion.',
      image: 'ile-des-esclaves',
      venue: {
        name: 'Théâtre du Grand Brûlé',
        address: ['101 avenue des Filaos', null, 'Saint-Denis', '97400', 'RE'],
        zone: 'Indian/Reunion',
      },
      tags: ['Théâtre', 'Tournée', 'Marivaux'],
      schedule: { firstDay: 58, sessions: 3, weekdays: '456', times: '19:30', minutes: 95 },
      popularity: 2,
      categories: [first, second],
    },
    {
      title: 'Lectures au long cours',
      description: 'Un roman lu à voix haute, en direct et en ligne.',
      venue: NO_VENUE,
      tags: ['Lecture', 'En ligne'],
      schedule: { firstDay: -40, sessions: 9, weekdays: '1', times: '18:00', minutes: 75 },
      popularity: 1,
      categories: [{ name: 'Accès en ligne', price: 500 }],
    },
    {
      title: 'Cyrano, cent représentations',
      description: 'Edmond Rostand, la production que Nantes ne laisse pas partir.',
      image: 'cyrano',
      tags: ['Théâtre', 'Rostand', 'Œuvre intégrale'],
      schedule: { firstDay: -130, sessions: 100, weekdays: '23457', times: '15:00 20:00', minutes: 165 },
      popularity: 8,
      categories: [carreOr, first, second],
    },
    {
      title: 'Antigone sous les étoiles',
      description: "En plein air ; repli à l'abri en cas de pluie.",
      image: 'antigone',
      venue: { name: 'Jardin du Bastion (plan fourni à la réservation)' },
      tags: ['Théâtre', 'Plein air', 'Été'],
      schedule: { firstDay: 215, sessions: 6, weekdays: '56', times: '21:45', minutes: 110 },
      popularity: 2,
      categories: [{ name: 'Prairie', price: 1800, seating: terraces, form }, second],
    },
    {
      title: 'Ateliers du samedi',
      description: 'Jeu, voix, masque : douze matinées pour débutants.',
      venue: { ...house, name: 'Théâtre des Trois-Ponts, salle Étincelle' },
      tags: ['Atelier', 'Amateurs'],
      schedule: { firstDay: -48, sessions: 12, weekdays: '6', times: '10:00', minutes: 180 },
      popularity: 1,
      categories: [{ name: 'Stagiaire', price: 2200, form }],
    },
  ],
  merchandise: [
    {
      name: 'Programme de saison',
      description: '<p>64 pages, <strong>photographies</strong> des répétitions.</p>',
      price: 800,
      compareAtPrice: 1000,
      priceWithTicket: 600,
      images: ['programme'],
      tags: ['Papier'],
      variants: [[240]],
    },
    {
      name: 'Écharpe « Trois-Ponts »',
      price: 2450,
      taxRate: 0.2,
      images: ['echarpe-1', 'echarpe-2'],
      tags: ['Textile', 'Idée cadeau'],
      optionLabels: ['Couleur', 'Longueur'],
      variants: [
        [130, 'Bleu nuit', 'Courte'],
        [190, 'Bleu nuit', 'Longue'],
        [190, 'Écru', 'Longue'],
      ],
    },
  ],
  packages: [
    {
      name: 'Duo avec programme',
      description: '<p>Deux places en première catégorie et un programme.</p>',
      percent: 85,
      productions: [0],
      ticketsEach: 2,
      merchandise: 0,
      tags: ['Duo'],
    },
    {
      name: 'Abonnement découverte',
      description: '<p>Un spectacle de chaque genre, à <strong>tarif abonné</strong>.</p>',
      percent: 75,
      productions: [0, 2, 3],
      ticketsEach: 1,
      images: ['abonnement'],
      tags: ['Abonnement'],
    },
  ],
  discounts: [
    { code: 'BIENVENUE10', percent: 10 },
    { code: 'AMIS-DU-THÉÂTRE', percent: 15 },
    { code: 'DERNIÈRE-MINUTE', percent: 33 },
  ],
  salesChannels: [
    { salesChannelId: 'chan_site', salesChannelName: 'Site officiel', issuanceChannel: 'ONLINE' },
    { salesChannelId: 'chan_guichet', salesChannelName: 'Guichet', issuanceChannel: 'BOX_OFFICE' },
    { salesChannelId: 'chan_reseau', salesChannelName: 'Réseau partenaire', issuanceChannel: 'PARTNER' },
  ],
  payments: [
    { provider: 'stripe', method: 'card' },
    { provider: 'stripe', method: 'sepa_debit' },
    { provider: 'ancv', method: 'holiday_voucher' },
  ],
  homeDelivery: { carrierId: 'carrier_lettre_suivie', fee: 490 },
  pickup: {
    carrierId: 'carrier_relais',
    fee: 250,
    points: [
      ['relais_0448', 'Librairie du Passage', '4 rue de la Fosse', 'Nantes', '44000'],
      ['relais_0512', 'Épicerie du Château', '31 allée Brancas', 'Vertou', '44120'],
    ],
  },
  insurance: { serviceId: 'srv_annulation', serviceName: 'Garantie annulation', percent: 6 },
  donation: { serviceId: 'srv_mecenat', serviceName: 'Fonds pour la création', amounts: [100, 500, 2000] },
  optIns: ['lettre_d_information', 'offres_partenaires'],
  population: {
    firstNames: names(
      'Zoé Léa Chloé Anaïs Noémie Hélène Inès Maëlle François Jérôme Rémi Loïc Théo Benoît Gaël André Béatrice Solène Yaël Côme',
    ),
    lastNames: names(
      'Lefèvre Béranger Nguyen Le_Goff Dupré Müller Rousseau Guérin Fernández Chénier Delaunay Bourgès Traoré Gauthier Hervé Maréchal Benaïssa Leclerc Pâquet Simon',
    ),
    streets: [
      '% rue des Tanneurs',
      '% bis boulevard Amiral-Courbet',
      "% place de l'Église",
      '% chemin du Vieux-Four',
      '% allée des Érables',
    ],
    addressLines2: ['Bâtiment C, 3e étage', 'Résidence Les Acacias', 'Appt 12'],
    towns: towns('Nantes 44000, Saint-Herblain 44800, Rezé 44400, Orvault 44700, Vannes 56000'),
    companies: [
      { companyName: 'Atelier Lefèvre & Fils', vatNumber: 'FR00000000001' },
      { companyName: "Comité d'entreprise des Chantiers", vatNumber: 'FR00000000002' },
      { companyName: 'Crédit Maraîcher', vatNumber: 'FR00000000003' },
    ],
    phone: '+33 6 39 98 ## ##', // a range that the French regulator reserves for fiction
  },
};
